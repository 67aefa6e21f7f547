internal import Glibc
package import JSON
package import Linux

/// The result of the last request to the server: the file `status.json`, which one user writes and the other reads.
package struct SyncReport: Sendable, Equatable {
    package enum Outcome: String, Sendable {
        /// Another set was fetched.
        case changed
        /// The server has the same set.
        case unchanged
        /// It did not answer; the old set stays.
        case unreachable
        /// Its answer was refused; the old set stays.
        case refused
    }

    package var outcome: Outcome
    /// A sentence.
    package var says: String
    package var server: String
    /// ISO 8601, UTC.
    package var time: String

    package init(_ outcome: Outcome, _ says: String, server: String) {
        (self.outcome, self.says, self.server) = (outcome, says, server)
        time = ISOTime.now()
    }

    package var json: JSONObject {
        [
            "outcome": .string(outcome.rawValue), "says": .string(says), "server": .string(server),
            "time": .string(time),
        ]
    }

    /// The report in a folder; nil if there is none, or none that can be read.
    package init?(in folder: String) {
        guard case .success(let text) = FileText.exact("\(folder)/status.json", maximumBytes: 65_536),
            let object = (try? JSONParser.parse(text, maximumDepth: 8))?.objectValue,
            let outcome = object["outcome"]?.stringValue.flatMap(Outcome.init),
            let says = object["says"]?.stringValue, let server = object["server"]?.stringValue,
            let time = object["time"]?.stringValue
        else { return nil }
        (self.outcome, self.says, self.server, self.time) = (outcome, says, server, time)
    }

    package func write(in folder: String) throws(SystemCallError) {
        try FileText.replace("\(folder)/status.json", with: JSONValue.object(json).text, mode: 0o640)
    }
}
