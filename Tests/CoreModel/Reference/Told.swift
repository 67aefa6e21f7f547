import QuickConnect

/// The words in which what a daemon does is told, by the model and of the daemon alike.
enum Told {
    static func ran(_ part: String, _ arguments: String, results: [String], handedOn: String?, _ error: String?)
        -> String
    {
        var text = "\(part) runs with [\(arguments)]"
        if !results.isEmpty { text += " and the results [\(results.joined(separator: ","))]" }
        if let handedOn { text += " and what \(handedOn) handed on" }
        if let error { text += " and the error \(error)" }
        return text
    }

    static func unwanted(_ key: GateKey) -> String { "nobody waits any more for what is awaited by \(key)" }

    static func failed(_ command: String, _ arguments: String, _ code: String) -> String {
        "the log tells: \(command) [\(arguments)] failed with \(code)"
    }

    static func finished(_ connection: Int) -> String { "\(connectionName(connection)) has got all" }

    /// A reply or an event. Where it has an id in the bridge form, no command, or another one than the call's, stands there.
    static func line(_ connection: Int, _ form: WireForm, _ command: String?, _ value: String, _ id: String?) -> String
    {
        "\(connectionName(connection)) gets \(form): \(command ?? "-") \(value)\(id.map { " with id \($0)" } ?? "")"
    }

    static func error(
        _ connection: Int,
        _ form: WireForm,
        _ code: String,
        of command: String,
        _ id: String?
    ) -> String {
        "\(connectionName(connection)) gets \(form): error \(code) of \(command)\(id.map { " with id \($0)" } ?? "")"
    }

    static func question(
        _ connection: Int,
        _ key: QuestionKey,
        _ handler: String,
        _ data: String,
        of command: String,
        in phase: String,
        results: String,
        user: String,
        _ error: String?
    ) -> String {
        """
        \(connectionName(connection)) is asked \(handler) \(data) by \(command) of \(user) in \(phase), \
        results [\(results)]\(error.map { ", error \($0)" } ?? ""): \(key)
        """
    }

    static func withdrawn(_ connection: Int, _ key: QuestionKey) -> String {
        "\(connectionName(connection)) hears that nobody waits for an answer to \(key)"
    }

    static func state(
        waiting: [Int],
        dropped: Int,
        handlers: [(name: String, connection: Int)],
        subscribers: [(event: String, count: Int)]
    ) -> String {
        let handlers = handlers.sorted { $0.name < $1.name }.map { "\($0.name) of \(connectionName($0.connection))" }
        let subscribers = subscribers.sorted { $0.event < $1.event }.map { "\($0.event) \($0.count)" }
        return """
            then: waiting calls \(waiting); dropped answers \(dropped); handlers \(handlers.joined(separator: ", ")); \
            subscribers \(subscribers.joined(separator: ", "))
            """
    }
}
