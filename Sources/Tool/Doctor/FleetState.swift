import JSON
import QuickConnect

/// What quickconnect-mqtt says of its broker.
struct FleetState {
    private let members: JSONObject

    init(_ members: JSONObject) { self.members = members }

    private func count(_ name: String) -> Int64 { members[name]?.integerValue ?? 0 }

    /// For the doctor. An unreachable broker is an error even if the device works, because nobody can reach it then.
    var finding: Finding {
        let broker = members["broker"]?.stringValue ?? "the broker"
        let device = members["device"]?.stringValue ?? ""
        let dropped = count("droppedEvents") + count("droppedReplies")
        let lost = dropped == 0 ? "" : "; \(dropped) messages were left out since the start, because the queue was full"
        guard members["connected"] == true else {
            let problem = members["problem"]?.stringValue ?? "not connected"
            let says = "\(device) is not connected to \(broker): \(problem)\(lost)"
            let check = "sudo -u quickconnect-mqtt quickconnect-mqtt --check"
            return Finding("fleet", .error, says, inspect: check)
        }
        return Finding("fleet", dropped == 0 ? .ok : .warning, "\(device) is connected to \(broker)\(lost)")
    }
}
