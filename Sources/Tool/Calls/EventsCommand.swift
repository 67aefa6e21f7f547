import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux
import QuickConnect
import QuickConnectClient

struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Prints events as they arrive, one JSON object per line, until interrupted.",
        discussion: """
            Each line is {"event": NAME, "data": VALUE}. A JSON object as the last argument sets options. Without \
            NAME it lists all events.

            Examples:
              quickconnect events
              quickconnect events doorbell
              quickconnect events location '{"maximumAge": null}'
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "List them as JSON, for programs.")
    var json = false

    @Argument(help: ArgumentHelp("The events' names.", valueName: "NAME"), completion: Completion.event)
    var names: [String] = []

    func run() throws {
        guard !names.isEmpty else { return try list() }
        for number in [SIGINT, SIGTERM] { signal(number) { _ in _exit(0) } }
        let deadline = connection.deadline
        let client = try connection.connect(before: deadline)
        do {
            // Before this program subscribes, because that makes a name known.
            if case .success(let state) = try client.call("state", .null, before: deadline) { reportOfUnknown(state) }
            if case .failure(let error) = try client.call("subscribe", parameters, before: deadline) {
                throw ExitError(error)
            }
            while true {
                let event = try client.nextEvent()
                say(JSONValue.object(["event": .string(event.name), "data": event.value]).text)
            }
        } catch let failure as ClientFailure {
            throw ExitError(failure)
        }
    }

    private func list() throws {
        let state = try connection.call("state")
        guard let events = KnownEvents(state) else {
            throw ExitError(message: "the daemon does not say which events it has: it is of an older version")
        }
        say(json ? events.json.text : events.text(width: Terminal.width))
    }

    /// Warns about an unknown name, which may be a typo, or an event that will be posted later.
    private func reportOfUnknown(_ state: JSONValue) {
        guard let events = KnownEvents(state) else { return }
        for name in parameters.arrayValue?.compactMap(\.stringValue) ?? [] {
            guard let hint = events.hint(of: name) else { continue }
            note(hint)
        }
    }

    private var parameters: JSONValue {
        var parameters = names.map(JSONValue.string)
        if names.count > 1, let last = names.last, let options = try? JSONParser.parse(last), options.objectValue != nil
        {
            parameters[parameters.count - 1] = options
        }
        return .array(parameters)
    }
}

/// The events that the daemon's state lists.
struct KnownEvents {
    let json: JSONValue
    private let all: [(name: String, lack: String?)]

    /// - Parameter state: what the command `state` answers; nil if it lists no events.
    init?(_ state: JSONValue) {
        guard let events = state.objectValue?["events"], let list = events.arrayValue else { return nil }
        json = events
        all = list.compactMap(\.objectValue).compactMap { event in
            event["event"]?.stringValue.map { ($0, event["lack"]?.stringValue) }
        }
    }

    func text(width: Int) -> String {
        let rows = all.map { [$0.name, $0.lack.map { "not here: \($0)" } ?? ""] }
        let others = "Other events exist where a client posts them («quickconnect call post NAME VALUE»)."
        return Table.text(rows, width: width) + "\n\n" + others.wrapped(to: width).joined(separator: "\n")
    }

    /// Asks for one of them that a name nearly is; empty if there is none, nil if it is one itself.
    func question(of name: String) -> String? {
        all.contains { $0.name == name } ? nil : NearestNames.question(name, among: all.map(\.name))
    }

    /// What to say of a name that is none of them; nil if it is one.
    func hint(of name: String) -> String? {
        guard let question = question(of: name) else { return nil }
        let names = all.map(\.name)
        guard !question.isEmpty else {
            return "waiting for '\(name.escapingControls)', which only clients post; the device itself has "
                + "\(names.joined(separator: ", "))"
        }
        return
            "'\(name.escapingControls)' is not an event of this device\(question) Nothing comes unless a program posts it."
    }
}
