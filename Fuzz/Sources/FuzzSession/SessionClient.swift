import Fuzzer
import JSON
import Synchronization

@testable import QuickConnect

/// A connection, its client, and what must hold for them.
final class SessionClient {
    private let connection: Connection
    private let output = SessionOutput()
    private var reader = MessageReader(maximumDepth: SessionDaemon.limits.depth)
    private var table = FrontController.CurrentTable()
    private(set) var isClosed = false
    private var inputEnded = false
    /// Whether its connection is taking a line: then nothing else comes from it, for one loop does both.
    fileprivate private(set) var isBusy = false

    init(_ name: String, _ uid: UInt32, _ daemon: SessionDaemon) {
        let caller = Caller(.peer(uid: uid, pid: 1, groups: []), userName: name)
        connection = Connection(caller: caller, daemon.router, output: output)
        output.client = self
    }

    var remembered: Remembered { Remembered(connection, output) }

    func perform(_ what: UInt8, _ rest: [UInt8]) {
        guard !isClosed else { return }
        switch what {
        case UInt8(ascii: ">"): send(rest)
        case UInt8(ascii: "~"): sendStart(rest)
        case UInt8(ascii: "="): answerAll()
        case UInt8(ascii: "&"): output.answersAtOnce = true
        case UInt8(ascii: "@"): output.hangsUp = true
        case UInt8(ascii: "."): endInput()
        default: break
        }
    }

    /// As a listener gives a connection its lines.
    private func send(_ line: [UInt8]) {
        guard !line.isEmpty, !inputEnded else { return }
        work {
            line.withUnsafeBufferPointer { line in
                guard line.count <= SessionDaemon.limits.lineBytes else {
                    return skip(OverlongLine(line))
                }
                expect(line)
                receive(line)
            }
        }
    }

    private func receive(_ line: UnsafeBufferPointer<UInt8>) {
        switch reader.read(line) {
        case .message(let message):
            connection.receive(message, &table, form: WireForm(firstByte: line.first))
            reader.giveBack(message)
        case .batch(var batch):
            while let member = batch.next() {
                let message = reader.read(member)
                connection.receive(message, &table, form: .bridge)
                reader.giveBack(message)
            }
        }
    }

    private func work(_ body: () -> Void) {
        isBusy = true
        body()
        isBusy = false
        if output.hasHungUp { close() }
    }

    private func sendStart(_ start: [UInt8]) {
        guard !inputEnded else { return }
        work { skip(OverlongLine(start)) }
    }

    private func skip(_ line: OverlongLine) {
        if line.responseID == nil, let id = line.callID { output.expect(id) }
        connection.receive(line)
    }

    /// Notes the ids that a line will be answered under, as another reader finds them.
    private func expect(_ line: UnsafeBufferPointer<UInt8>) {
        var reader = MessageReader(maximumDepth: SessionDaemon.limits.depth)
        switch reader.read(line) {
        case .message(let message): expect(message)
        case .batch(var batch): while let member = batch.next() { expect(reader.read(member)) }
        }
    }

    private func expect(_ message: IncomingMessage) {
        switch message {
        case .call(let request): if let id = request.id { output.expect(id) }
        case .unreadable(let message): if let id = message.id { output.expect(id) }
        case .answer: break
        }
    }

    /// Answers what its handlers were asked and have not answered.
    /// - Returns: whether there was anything.
    @discardableResult
    func answerAll() -> Bool {
        guard !isClosed, !inputEnded else { return false }
        let asked = output.takeAsked()
        for id in asked { answer(id) }
        return !asked.isEmpty
    }

    fileprivate func answer(_ id: String) {
        guard !isClosed, !inputEnded else { return }
        // The table and the reader may be in use: this may be in the middle of a call.
        var table = FrontController.CurrentTable()
        let answer = HandlerAnswer(.value(.string(id)), replyCommand: nil, ends: false)
        work { connection.receive(.answer(id: id, .answer(answer)), &table, form: .bridge) }
    }

    func endInput() {
        guard !isClosed, !inputEnded else { return }
        inputEnded = true
        output.inputEnded()
        work { connection.endInput() }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        connection.close()
    }

    /// All that calls could wait for has come.
    func checkIdle() {
        check(connection.waitingCount == 0, "no call waits for what has come")
        output.checkEnd()
    }

    /// It has hung up.
    func checkEnd() {
        check(connection.waitingCount == 0, "no call waits behind the end")
        check(connection.droppedForm == nil, "a closed connection subscribes to nothing")
        output.checkEnd()
        output.client = nil
    }
}

/// What a connection sends, as a client reads it.
final class SessionOutput: ConnectionOutput, @unchecked Sendable {
    // Sendable because all of it happens on one thread.
    fileprivate weak var client: SessionClient?
    var answersAtOnce = false
    var hangsUp = false
    private(set) var hasHungUp = false
    /// The replies that each id is owed.
    private var owed: [[UInt8]: Int] = [:]
    private var asked: [String] = []
    private var everAsked: Set<String> = []
    private var hasEnded = false
    private var finishes = 0

    func expect(_ id: String) { owed[Array(id.utf8), default: 0] += 1 }

    func inputEnded() { hasEnded = true }

    func takeAsked() -> [String] {
        defer { asked = [] }
        return asked
    }

    func write(_ line: (OutputBuffer) -> Void) {
        let buffer = OutputBuffer()
        line(buffer)
        let bytes = buffer.flattened()
        check(bytes.last == UInt8(ascii: "\n"), "a line ends")
        check(!bytes.dropLast().contains(UInt8(ascii: "\n")), "a line is one line")
        read(Array(bytes.dropLast()))
        guard hangsUp, !hasHungUp else { return }
        hasHungUp = true
        if let client, !client.isBusy { client.close() }
    }

    func send(_ event: Event, form: WireForm) { write { $0.append(event, form: form) } }

    func finish() {
        finishes += 1
        check(hasEnded, "only who has ended its input is done")
        check(finishes == 1, "a connection is done once")
        check(owed.values.allSatisfy { $0 == 0 }, "all replies have come before it is done")
    }

    private func read(_ line: [UInt8]) {
        if let reply = URLReply(line) { return reply.id.map { take($0) } ?? () }
        guard let members = (try? JSONParser.parse(line.span))?.objectValue else {
            return check(false, "a line can be read")
        }
        if let id = members["responseId"]?.stringValue { return take(id) }
        guard let call = members["callbackId"]?.stringValue else { return }
        check(everAsked.insert(call).inserted, "each call to a handler has an id of its own")
        check(!hasEnded, "who has ended its input is asked nothing")
        if answersAtOnce, let client, !client.isBusy { client.answer(call) } else { asked.append(call) }
    }

    private func take(_ id: String) {
        let left = owed[Array(id.utf8)] ?? 0
        check(left > 0, "a call is answered once, and nobody else is")
        owed[Array(id.utf8)] = left - 1
    }

    func checkEnd() {
        check(owed.values.allSatisfy { $0 == 0 }, "each call is answered")
        check(!hasEnded || finishes == 1, "who has ended its input is done at the end")
    }
}

/// Tells whether a client's connection still takes memory, and keeps none of it.
struct Remembered {
    private weak var connection: Connection?
    private weak var output: SessionOutput?

    init(_ connection: Connection, _ output: SessionOutput) {
        self.connection = connection
        self.output = output
    }

    var isThere: Bool { connection != nil || output != nil }
}
