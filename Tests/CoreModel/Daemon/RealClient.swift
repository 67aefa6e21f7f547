import JSON
import QuickConnect
import Synchronization

/// Which question of the history a call to a handler is, by the connection and the number that the daemon gave it.
final class HandlerNames: Sendable {
    private struct State {
        var places: [QuestionKey: (connection: Int, number: Int)] = [:]
        var counts: [Int: Int] = [:]
    }

    private let state = Mutex(State())

    /// Notes the next question for a call.
    func add(_ serial: Int, at connection: Int, _ number: Int) -> QuestionKey {
        state.withLock { state in
            let key = QuestionKey(serial: serial, number: state.counts[serial, default: 0])
            state.counts[serial, default: 0] += 1
            state.places[key] = (connection, number)
            return key
        }
    }

    func place(of key: QuestionKey) -> (connection: Int, number: Int)? { state.withLock { $0.places[key] } }

    func key(at connection: Int, _ number: Int) -> QuestionKey? {
        state.withLock { state in
            state.places.first { $0.value.connection == connection && $0.value.number == number }?.key
        }
    }
}

/// A client, which sends what the history says and notes what it gets.
final class RealClient {
    let connection: Connection
    private let driver: LineDriver
    private let output: NotingOutput
    private var hasEnded = false

    init(_ number: Int, _ router: Router, _ journal: Journal, _ names: HandlerNames) {
        output = NotingOutput(number, journal, names)
        let caller = Caller(.peer(uid: Device.uid(number), pid: 42, groups: []), userName: Device.user(number))
        connection = Connection(caller: caller, router, output: output)
        driver = LineDriver(connection)
    }

    private var isOpen: Bool { !hasEnded && !connection.isClosed }

    func send(_ lines: [Line]) {
        guard isOpen else { return }
        if lines.count == 1, lines[0].form == .url { return driver.receive(Array(Self.urlLine(lines[0]).utf8)) }
        let messages = lines.map(Self.bridgeMessage)
        driver.receive(Array((messages.count == 1 ? messages[0] : "[\(messages.joined(separator: ","))]").utf8))
    }

    private static func urlLine(_ line: Line) -> String {
        "call?cmd=\(line.command)&msg=\(line.data)\(line.id.map { "&id=\($0)" } ?? "")"
    }

    private static func bridgeMessage(_ line: Line) -> String {
        let id = line.id.map { #","callbackId":"\#($0)""# } ?? ""
        return #"{"handlerName":"\#(line.command)","data":\#(line.data)\#(id)}"#
    }

    func answer(_ number: Int, _ answer: Answer) {
        guard isOpen else { return }
        let content =
            switch answer {
            case .error(let code): #""error":{"code":"\#(code)","message":"no"}"#
            case .value(let value, let command, let ends):
                #""responseData":\#(value)"# + (command.map { #","handlerName":"\#($0)""# } ?? "")
                    + (ends ? #","end":true"# : "")
            }
        driver.receive(Array(#"{"responseId":"q\#(number)",\#(content)}"#.utf8))
    }

    func endInput() {
        guard isOpen else { return }
        hasEnded = true
        connection.endInput()
    }

    /// What it gets from now on is not noted.
    func stopReading() { output.close() }

    func close() {
        stopReading()
        if !connection.isClosed { connection.close() }
    }
}

/// Notes the lines that a connection sends, in words.
private final class NotingOutput: ConnectionOutput {
    private let number: Int
    private let journal: Journal
    private let names: HandlerNames
    /// Nobody gets what is sent on a closed connection.
    private let isClosed = Atomic<Bool>(false)
    private let lastQuestion = Atomic<Int>(0)

    init(_ number: Int, _ journal: Journal, _ names: HandlerNames) {
        self.number = number
        self.journal = journal
        self.names = names
    }

    func close() { isClosed.store(true, ordering: .relaxed) }

    func write(_ line: (OutputBuffer) -> Void) {
        let buffer = OutputBuffer()
        line(buffer)
        let bytes = buffer.flattened()
        if let text = bytes.first == UInt8(ascii: "{") ? bridge(bytes) : url(bytes) { note(text) }
    }

    func send(_ event: Event, form: WireForm) { write { $0.append(event, form: form) } }

    func finish() { note(Told.finished(number)) }

    private func note(_ text: String) { if !isClosed.load(ordering: .relaxed) { journal.note(text) } }

    private func unreadable(_ bytes: [UInt8]) -> String {
        "\(connectionName(number)) gets what it cannot read: \(String(decoding: bytes, as: UTF8.self))"
    }

    private func url(_ bytes: [UInt8]) -> String? {
        guard bytes.last == 0x0A, let reply = URLReply(Array(bytes.dropLast())) else { return unreadable(bytes) }
        if reply.command == CommandError.replyCommand { return error(reply.value, .url, reply.id) }
        return Told.line(number, .url, reply.command, reply.value.told, reply.id)
    }

    private func bridge(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes.dropLast(), as: UTF8.self)
        guard bytes.last == 0x0A, let line = (try? JSONParser.parse(text))?.objectValue else {
            return unreadable(bytes)
        }
        let id = line["responseId"]?.stringValue
        let command = line["handlerName"]?.stringValue
        if let error = line["error"], line["phase"] == nil { return self.error(error, .bridge, id) }
        if line["callbackId"] != nil { return question(line) }
        if command == "cancel", let name = line["data"]?.arrayValue?.first?.stringValue { return withdrawal(name) }
        guard let value = line[id == nil ? "data" : "responseData"] else { return unreadable(bytes) }
        return Told.line(number, .bridge, command, value.told, id)
    }

    private func error(_ value: JSONValue, _ form: WireForm, _ id: String?) -> String {
        let (error, unknown) = (value.objectValue ?? [:], "nothing")
        let code = error["code"]?.stringValue ?? unknown
        return Told.error(number, form, code, of: error["cmd"]?.stringValue ?? unknown, id)
    }

    private static func number(of name: String) -> Int? { name.first == "q" ? Int(name.dropFirst()) : nil }

    private func question(_ line: JSONObject) -> String {
        let data = line["data"] ?? .null
        let last = data.arrayValue?.last ?? data
        let serial = Int(last.text.filter(\.isNumber)) ?? 0
        let asked = line["callbackId"]?.stringValue.flatMap(Self.number(of:)) ?? 0
        let before = lastQuestion.exchange(asked, ordering: .relaxed)
        if asked != before + 1 { journal.note("question \(asked) follows \(before)") }
        let key = names.add(serial, at: number, asked)
        return Told.question(
            number,
            key,
            line["handlerName"]?.stringValue ?? "",
            data.text,
            of: line["command"]?.stringValue ?? "",
            in: line["phase"]?.stringValue ?? "",
            results: line["results"]?.arrayValue?.map(\.told).joined(separator: ",") ?? "",
            user: line["caller"]?.objectValue?["user"]?.stringValue ?? "",
            line["error"]?.objectValue?["code"]?.stringValue
        )
    }

    private func withdrawal(_ name: String) -> String? {
        guard let asked = Self.number(of: name), let key = names.key(at: number, asked) else {
            return "\(connectionName(number)) hears of \(name), which nobody asked"
        }
        return Told.withdrawn(number, key)
    }
}
