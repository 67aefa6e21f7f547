import Concurrency
import Foundation
import JSON
import Logging
import Synchronization
import Testing

@testable import QuickConnect
@testable import quickconnectd

/// Keeps the alarms that are set, and rings them when the test says so.
private final class SecondClock: AlarmClock {
    private let alarms = Mutex<[@Sendable () -> Void]>([])

    func ring(after time: Duration, _ body: @escaping @Sendable () -> Void) {
        #expect(time == .seconds(1))
        alarms.withLock { $0.append(body) }
    }

    var count: Int { alarms.withLock { $0.count } }

    /// The second is over.
    func ring() {
        let due = alarms.withLock { alarms in
            defer { alarms = [] }
            return alarms
        }
        for body in due { body() }
    }
}

/// The connection of a call that came on none.
private final class NoConnection: CallConnection {
    let caller: Caller
    let process: CallingProcess?

    init(_ caller: Caller, _ process: CallingProcess? = nil) {
        self.caller = caller
        self.process = process
    }

    var socketRule: SocketRule? { nil }
    var isClosed: Bool { false }
    var answers: Bool { false }
    func whenClosed(_ body: @escaping @Sendable () -> Void) {}
    func interruptCalls(id: String?, with error: CommandError) {}
    func act(for user: String, groups: Set<String>, hearsLeases: Bool) throws(CommandError) {}
    func report(_ error: CommandError, of command: String, form: WireForm) {}
    func send(_ event: Event, form: WireForm) {}
    func forgetAnswer(_ number: Int) {}

    func callHandler(
        _ handler: String,
        _ call: borrowing Call,
        in phase: Phase,
        for receiver: any AnswerReceiver
    ) -> Int { 0 }
}

@Suite("The audit log")
struct AuditLogTests {
    private let clock = SecondClock()
    private let kept = Kept()
    private let log: AuditLog

    private final class Kept: Sendable {
        let lines = Mutex<[String]>([])
        let changes = Atomic<Int>(0)
    }

    init() {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        log = AuditLog(
            write: { [kept] line in kept.lines.withLock { $0.append(line) } },
            failures: FailureLogger(logger: logger),
            clock: clock,
            changed: { [kept] in kept.changes.add(1, ordering: .relaxed) }
        )
    }

    private static let alice = NoConnection(Caller(.peer(uid: 1000, pid: 4711, groups: [])))

    /// The lines that were written since the last look.
    private func take() -> [String] {
        kept.lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    private func end(
        _ command: String = "playSound",
        data: String = "[]",
        on connection: NoConnection = alice,
        refused: Bool = false,
        error: CommandError? = nil,
        after time: Duration = .milliseconds(812)
    ) {
        var reader = MessageReader()
        var line = #"{"handlerName":"x","data":\#(data)}"#
        guard case .message(.call(let request)) = line.withUTF8({ reader.read($0) }) else {
            Issue.record("it is a call")
            return
        }
        var call = Call(keeping: request, CommandDescription(command), on: connection)
        call.error = error
        call.isRefused = refused
        log.ended(call, after: time)
    }

    @Test func `a line says who, what, whether it was allowed, how it ended and after how many seconds`() {
        let process = CallingProcess(unit: "session-2.scope", program: "quickconnect")
        end(data: "[0]", on: NoConnection(Caller(.peer(uid: 1000, pid: 4711, groups: [])), process))
        end("rec", refused: true, error: CommandError(.denied, "no"), after: .zero)
        end(on: NoConnection(Caller(.gateway(name: "mqtt", user: "a b"))), error: CommandError(.busy, "taken"))
        end(on: NoConnection(.daemon), after: .seconds(61))
        #expect(
            take() == [
                """
                audit: command=playSound allowed=yes outcome=ok seconds=0.812 uid=1000 pid=4711 unit=session-2.scope \
                program=quickconnect arguments=[0]
                """,
                "audit: command=rec allowed=no outcome=denied seconds=0.000 uid=1000 pid=4711",
                #"audit: command=playSound allowed=yes outcome=busy seconds=0.812 gateway=mqtt user="a b""#,
                "audit: command=playSound allowed=yes outcome=ok seconds=61.000 daemon=yes",
            ]
        )
        #expect(kept.changes.load(ordering: .relaxed) == 4)
    }

    @Test func `what callers choose cannot look like another field, nor be longer than 200 bytes`() {
        end("a b=\"c\" outcome=ok")
        #expect(
            take() == [#"audit: command="a b=\"c\" outcome=ok" allowed=yes outcome=ok seconds=0.812 uid=1000 pid=4711"#]
        )
        let long = String(repeating: "x", count: 300)
        end(long)
        // Words with other characters than ASCII's stand in quotes.
        #expect(take().first?.hasPrefix("audit: command=\"\(long.prefix(200))…(300 bytes)\" allowed=yes ") ?? false)
    }

    @Test func `arguments are cut at 200 bytes, those left out at the end are not written`() {
        func arguments(_ data: String) -> String? {
            end(data: data)
            return take().first.flatMap { line in line.range(of: " arguments=").map { String(line[$0.upperBound...]) } }
        }
        #expect(arguments("[]") == nil && arguments("[null,null]") == nil)
        #expect(arguments(#"["take.caf",null,{"a":[1]},null]"#) == #"["take.caf",null,{"a":[1]}]"#)
        let fits = String(repeating: "x", count: 197)
        #expect(arguments(#"["\#(fits)"]"#) == #"["\#(fits)"]"#)
        for data in [#"["\#(fits)x"]"#, #"["\#(String(repeating: "x", count: 1_000_000))",1]"#, "[\"\(fits)\",7]"] {
            let text = arguments(data)
            #expect(text?.hasSuffix("…") ?? false)
            #expect((text ?? "").dropLast().utf8.count == 200)
        }
        let many = arguments("[\(Array(repeating: "1", count: 10_000).joined(separator: ","))]")
        #expect(many?.hasPrefix("[1,1,1,") ?? false)
        #expect((many ?? "").dropLast().utf8.count == 200)
    }

    @Test func `of one user's calls 200 lines a second are written, and how many more there were`() {
        for _ in 0..<250 { end() }
        #expect(take().count == 200)
        #expect(clock.count == 1)
        clock.ring()
        #expect(take() == ["audit: 50 more calls of uid=1000 within a second"])
        for _ in 0..<200 { end() }
        #expect(take().count == 200)
        clock.ring()
        #expect(take() == [])
    }

    @Test func `of one user's refused calls ten lines a second are written, beside the others`() {
        for _ in 0..<1000 { end(refused: true, error: CommandError(.denied, "no")) }
        for _ in 0..<3 { end() }
        let lines = take()
        #expect(lines.count { $0.contains("allowed=no") } == 10 && lines.count { $0.contains("allowed=yes") } == 3)
        #expect(clock.count == 2)
        clock.ring()
        #expect(take() == ["audit: 990 more refused calls of uid=1000 within a second"])
    }

    @Test func `one user's many calls leave the lines of the others alone`() {
        for _ in 0..<500 { end() }
        _ = take()
        let bob = NoConnection(Caller(.peer(uid: 1001, pid: 7, groups: [])))
        for _ in 0..<200 { end(on: bob) }
        #expect(take().count { $0.contains("uid=1001") } == 200)
        // Another process of the same user is the same user.
        end(on: NoConnection(Caller(.peer(uid: 1000, pid: 1, groups: []))))
        #expect(take() == [])
    }

    @Test func `where no lines are wanted none are counted, but changes are told`() {
        let changes = kept
        let silent = AuditLog(
            isOn: false,
            write: { _ in },
            failures: FailureLogger(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }),
            clock: clock,
            changed: { changes.changes.add(1, ordering: .relaxed) }
        )
        var reader = MessageReader()
        var line = "call?cmd=x"
        guard case .message(.call(let request)) = line.withUTF8({ reader.read($0) }) else { return }
        silent.ended(Call(keeping: request, CommandDescription("x"), on: Self.alice), after: .zero)
        #expect(changes.changes.load(ordering: .relaxed) == 1 && clock.count == 0)
    }

    @Test(arguments: [
        ("plain", "plain"), ("", #""""#), ("a b", #""a b""#), ("a=b", #""a=b""#), ("a\"b", #""a\"b""#), ("é", #""é""#),
        ("a\nb", #""a\nb""#),
    ])
    func `a word that is not plain stands in quotes`(text: String, word: String) {
        #expect(AuditLog.word(text) == word)
    }
}

extension Call {
    /// One that lives by itself, outside of a stack.
    init(keeping request: Request, _ description: CommandDescription, on connection: any CallConnection) {
        self.init(request, description, on: connection)
        keep()
    }
}
