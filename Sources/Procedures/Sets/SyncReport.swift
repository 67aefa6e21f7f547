internal import Glibc
public import JSON
public import Linux

/// The result of the last request to the server: the file `status.json`, which one user writes and the other reads.
public struct SyncReport: Sendable, Equatable {
    public enum Outcome: String, Sendable {
        /// Another set was fetched.
        case changed
        /// The server has the same set.
        case unchanged
        /// It did not answer; the old set stays.
        case unreachable
        /// Its answer was refused; the old set stays.
        case refused
    }

    public var outcome: Outcome
    /// A sentence.
    public var says: String
    public var server: String
    /// ISO 8601, UTC.
    public var time: String

    public init(_ outcome: Outcome, _ says: String, server: String) {
        (self.outcome, self.says, self.server) = (outcome, says, server)
        time = ISOTime.now()
    }

    public var json: JSONObject {
        [
            "outcome": .string(outcome.rawValue), "says": .string(says), "server": .string(server),
            "time": .string(time),
        ]
    }

    /// The report in a folder; nil if there is none, or none that can be read.
    public init?(in folder: String) {
        guard case .success(let text) = FileText.read("\(folder)/status.json", maximumBytes: 65_536),
            let object = (try? JSONParser.parse(text, maximumDepth: 8))?.objectValue,
            let outcome = object["outcome"]?.stringValue.flatMap(Outcome.init),
            let says = object["says"]?.stringValue, let server = object["server"]?.stringValue,
            let time = object["time"]?.stringValue
        else { return nil }
        (self.outcome, self.says, self.server, self.time) = (outcome, says, server, time)
    }

    public func write(in folder: String) throws(SystemCallError) {
        try FileText.replace("\(folder)/status.json", with: JSONValue.object(json).text, mode: 0o640)
    }
}
