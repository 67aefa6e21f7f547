internal import JSON
internal import QuickConnectClient

/// What other threads have done for the loop of the host.
enum HostWork: Sendable {
    /// A long line of the daemon, and whether what came with it waits for it.
    case line(LineWork, isEvent: Bool)
    /// The answer to a call of that caller waits to be sent.
    case answered(ProcedureCaller)
    /// What the procedure is that a call would have checked.
    case found(HandlerCall, Result<ProcedureChecks.Source, HandlerCall.Failure>)
}

/// A long line of the daemon, parsed, and what the loop would else have to make of it.
struct LineWork: Sendable {
    var line: ParsedLine
    /// The job, if it is a call that is one. The call has no data then.
    var job: ProcedureJob?
    /// The bytes of an event's value, as JSON.
    var size: Int?

    init(_ line: LongLine) {
        self.line = line.parsed()
        size = self.line.event?.value.text.utf8.count
        job = self.line.call.flatMap(ProcedureJob.init)
        if job != nil { self.line.call?.data = .null }
    }
}

/// A job for a process: the run of a procedure.
struct ProcedureJob: Sendable {
    let name: String
    /// As a process reads it: `{"name", "arguments"}`.
    let line: [UInt8]

    /// Nil if a call to a handler is no such job.
    init?(_ call: HandlerCall) {
        let values = call.data.arrayValue ?? [call.data]
        guard call.handler == "execute", let name = values.first?.stringValue else { return nil }
        self.name = name
        let json: JSONValue = ["name": .string(name), "arguments": .array(Array(values.dropFirst()))]
        line = Array("\(json.text)\n".utf8)
    }
}
