public import JSON
public import QuickConnect

/// A line of the daemon that is longer than ``ClientConversation/Bounds/putAsideBytes``: the loop that has received it
/// has it parsed by another thread, and goes on meanwhile.
///
/// Lines that come after it are not held up by it, and so are processed before it.
public struct LongLine: Sendable {
    let bytes: [UInt8]
    /// The connection on which it came.
    let connection: Int

    /// How many bytes it has.
    public var count: Int { bytes.count }

    /// Whether it begins as an event of that name does, or a call to a handler of that name.
    public func isNamed(_ name: String) -> Bool {
        bytes.starts(with: "{\"handlerName\":\(JSONValue.string(name).text),".utf8)
    }

    /// Parses it, on any thread. ``ClientConversation/take(_:)`` takes the result.
    public func parsed() -> ParsedLine {
        ParsedLine(message: bytes.withUnsafeBufferPointer { DaemonMessage($0) }, connection: connection)
    }
}

/// What a ``LongLine`` says.
public struct ParsedLine: Sendable {
    var message: DaemonMessage
    let connection: Int

    /// The call to a handler, if it is one. Who needs its `data` no more may take them out, so that the loop does not
    /// have to free them.
    public var call: HandlerCall? {
        get { if case .call(let call) = message { call } else { nil } }
        set { if let newValue, call != nil { message = .call(newValue) } }
    }

    /// The event, if it is one.
    public var event: (name: String, value: JSONValue)? {
        if case .event(let name, let value) = message { (name, value) } else { nil }
    }
}

/// The line of an answer, which ``HandlerCall/answer(_:bounds:)`` makes on any thread.
public struct AnswerLine: Sendable {
    let number: HandlerCall.Number
    let bytes: [UInt8]

    /// How many bytes it has.
    public var count: Int { bytes.count }
}

extension HandlerCall {
    /// The answer to this call as it will be sent. An answer that the daemon would not read is the error `tooLarge`.
    public func answer(
        _ answer: Result<Answer, Failure>,
        bounds: ClientConversation.Bounds = ClientConversation.Bounds()
    ) -> AnswerLine {
        let line = line(of: answer)
        guard let problem = bounds.problem(of: line) else { return AnswerLine(number: number, bytes: line) }
        let failure = Failure(.tooLarge, "the handler's answer: \(problem)")
        return AnswerLine(number: number, bytes: self.line(of: .failure(failure)))
    }
}

extension ClientConversation.Bounds {
    /// Why the daemon would reject a line, given with its line break; nil if it would not.
    func problem(of line: [UInt8]) -> String? {
        line.withUnsafeBufferPointer { LineCheck.problem(UnsafeBufferPointer(rebasing: $0.dropLast()), self) }
    }
}

/// The lines that are being parsed elsewhere.
struct LinesAside: Sendable {
    var lines: [LongLine] = []
    /// How many have not been taken back.
    var count = 0
    /// The calls that were cancelled meanwhile.
    var cancelled: Set<String> = []
}

extension ClientConversation {
    /// The long lines since the last time. Each must be parsed and come back by ``take(_:)``.
    public mutating func takeLongLines() -> [LongLine] {
        guard !aside.lines.isEmpty else { return [] }
        defer { aside.lines = [] }
        return aside.lines
    }

    /// Processes a long line that has been parsed. One of an earlier connection is ignored: nobody waits for it.
    public mutating func take(_ line: ParsedLine) {
        guard isConnected, line.connection == connectionCount else { return }
        aside.count -= 1
        defer { if aside.count == 0 { aside.cancelled = [] } }
        if let call = line.call, aside.cancelled.remove(call.id) != nil { return }
        take(line.message)
    }

    /// Whether a line is left to another thread.
    mutating func putAside(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        guard line.count > bounds.putAsideBytes else { return false }
        aside.lines.append(LongLine(bytes: Array(line), connection: connectionCount))
        aside.count += 1
        return true
    }
}
