internal import CLinux
public import Glibc
public import QuickConnect

/// What a script's process tells the host that started it: lines of JSON on a pipe, each with some of the members.
public struct ScriptReport: Sendable, Equatable {
    /// The text was run to its end once, or waits for the daemon: it may take the place of an older one.
    public var isLoaded: Bool?
    /// Calls made since it began.
    public var calls: Int?
    /// Calls to its handlers that it has answered.
    public var answers: Int?
    /// Lines of the console that were dropped.
    public var droppedLines: Int?
    /// What went wrong last: `file:line:column: message`.
    public var error: String?
    /// The limit that ended it.
    public var limit: String?
    /// A file that it has loaded, below the folder.
    public var loadedFile: String?

    public init() {}

    public init(_ json: JSONValue) {
        let members = json.objectValue ?? [:]
        isLoaded = members["loaded"]?.boolValue
        calls = members["calls"]?.integerValue.map(Int.init)
        answers = members["answers"]?.integerValue.map(Int.init)
        droppedLines = members["dropped"]?.integerValue.map(Int.init)
        error = members["error"]?.stringValue
        limit = members["limit"]?.stringValue
        loadedFile = members["file"]?.stringValue
    }

    public var json: JSONValue {
        var members: JSONObject = [:]
        if let isLoaded { members["loaded"] = .bool(isLoaded) }
        if let calls { members["calls"] = .integer(Int64(calls)) }
        if let answers { members["answers"] = .integer(Int64(answers)) }
        if let droppedLines { members["dropped"] = .integer(Int64(droppedLines)) }
        if let error { members["error"] = .string(error) }
        if let limit { members["limit"] = .string(limit) }
        if let loadedFile { members["file"] = .string(loadedFile) }
        return .object(members)
    }
}

/// The socket between a script's process and its host: reports one way, one byte «go on» the other way.
public final class HostChannel: Sendable {
    public let descriptor: Int32

    /// The socket of a process that a host has started; the process ends when that one does.
    public init(ofHost host: pid_t) {
        descriptor = ScriptProcess.channelNumber
        qc_end_with_parent(host)
    }

    /// Tells the host. Where it does not read, this is dropped: what is told later says it again.
    func tell(_ report: ScriptReport) {
        let bytes = Array("\(report.json.text)\n".utf8)
        _ = bytes.withUnsafeBytes {
            send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
    }

    /// What the host wrote: true: go on; false: it is gone; nil: nothing yet.
    func mayGoOn() -> Bool? {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT))
        if count > 0 { return true }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? nil : false
    }
}
