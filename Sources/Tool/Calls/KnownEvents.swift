import CommandLineText
import JSON
import Linux
import QuickConnect

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

    /// What to say of a name that is none of them; nil if it is one.
    func hint(of name: String) -> String? {
        guard !all.contains(where: { $0.name == name }) else { return nil }
        let names = all.map(\.name)
        let question = NearestNames.question(name, among: names)
        let known = question.isEmpty ? " There are \(names.joined(separator: ", "))." : ""
        return "'\(name.escapingControls)' is not an event of this device\(question.isEmpty ? "" : question)"
            + "\(question.isEmpty ? "." : "")\(known) It exists only where a client posts it."
    }
}
