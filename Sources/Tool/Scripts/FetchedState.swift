import JSON
import QuickConnect

/// What the service of procedures says of what was fetched.
struct FetchedState {
    private let object: JSONObject
    private let last: JSONObject

    init(_ json: JSONValue) {
        object = json.objectValue ?? [:]
        last = object["last"]?.objectValue ?? [:]
    }

    private func word(_ name: String) -> String? { object[name]?.stringValue }

    /// What prevents the newest set from being used, apart from a server that does not answer.
    private var fault: String? {
        if let problem = word("problem") { return problem }
        if let reason = word("refused") { return "refused, and what was there before stays: \(reason)" }
        return last["outcome"] == "refused" ? "refused: \(last["says"]?.stringValue ?? "")" : nil
    }

    var isOK: Bool { fault == nil && last["outcome"] != "unreachable" }

    /// A sentence.
    var text: String {
        let files = object["files"]?.integerValue.map { "\($0) files" } ?? "nothing"
        let version = object["version"]?.integerValue.map { ", version \($0)" } ?? ""
        let place = "\(files)\(version) in place"
        guard let time = last["time"]?.stringValue else { return "the server has not been asked; \(place)" }
        if let fault { return "\(fault) (\(time)); \(place)" }
        if last["outcome"] == "unreachable" {
            return "the server does not answer (\(time)): \(last["says"]?.stringValue ?? ""); \(place)"
        }
        return "the server was asked at \(time); \(place)"
    }

    /// For the doctor: a device without a network is not broken.
    var finding: Finding {
        let state: Finding.State = fault != nil ? .error : isOK && !last.isEmpty ? .ok : .warning
        return Finding("procedures", state, text, fix: state == .ok ? nil : "sudo quickconnect procedure sync")
    }
}
