internal import JSON
internal import Linux

/// The arguments of a call, as a command line has them.
public enum CallArguments {
    /// The text of `msg` that arguments stand for.
    public static func message(_ arguments: [String]) -> String? {
        guard arguments.count > 1 else { return arguments.first }
        return JSONValue.array(arguments.map { (try? JSONParser.parse($0)) ?? .string($0) }).text
    }

    /// What to say of the first argument that is an option of the client, or begins like an object or array of JSON and is
    /// none: both are sent as text; nil if there is none.
    public static func note(_ arguments: [String], of command: String) -> String? {
        let options: Set<Substring> = ["--socket", "--timeout", "--json", "--device"]
        if let option = arguments.map({ $0.prefix { $0 != "=" } }).first(where: options.contains) {
            let command = command.escapingControls
            return "«\(option)» behind \(command) is an argument of \(command); an option comes before it"
        }
        for argument in arguments where argument.hasPrefix("{") || argument.hasPrefix("[") {
            guard (try? JSONParser.parse(argument)) == nil else { continue }
            let quotes = argument.contains("'") ? ": names and texts of JSON are in double quotes" : ""
            return "«\(argument.escapingControls)» is no JSON, so it is sent as text\(quotes)"
        }
        return nil
    }
}
