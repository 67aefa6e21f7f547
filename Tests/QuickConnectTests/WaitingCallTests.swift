import Concurrency
import CoreModel
import JSON
import Synchronization
import Testing

@testable import QuickConnect

/// A client that answers, or loses, a call to its handler before the call of it returns.
private final class QuickClient: CallConnection {
    let caller = Caller.daemon
    let outcome: HandlerOutcome
    /// Whether each answer was awaited.
    let awaited = Mutex<[Bool]>([])
    let forgotten = Mutex<[Int]>([])

    init(_ outcome: HandlerOutcome) { self.outcome = outcome }

    var socketRule: SocketRule? { nil }
    var process: CallingProcess? { nil }
    var isClosed: Bool { false }
    var answers: Bool { true }
    func whenClosed(_ body: @escaping @Sendable () -> Void) {}
    func interruptCalls(id: String?, with error: CommandError) {}
    func act(for user: String, groups: Set<String>, hearsLeases: Bool) throws(CommandError) {}
    func report(_ error: CommandError, of command: String, form: WireForm) {}
    func send(_ event: Event, form: WireForm) {}
    func forgetAnswer(_ number: Int) { forgotten.withLock { $0.append(number) } }

    func callHandler(
        _ handler: String,
        _ call: borrowing Call,
        in phase: Phase,
        for receiver: any AnswerReceiver
    ) -> Int {
        let first = receiver.receive(outcome, number: 7)
        awaited.withLock { $0.append(first) }
        return 7
    }
}

/// Waits for a promise that the test settles.
private final class Promises: Sendable {
    let promise = Promise<BusinessOutcome>()
    let cancellations = Atomic<Int>(0)

    var step: TestStep {
        .waitingBCO { _ in
            .promise(self.promise) { self.cancellations.add(1, ordering: .relaxed) }
        }
    }
}

@Suite("What a call waits for", .timeLimit(.minutes(5)))
struct WaitingCallTests {
    // MARK: Handlers

    @Test("An answer that comes while the handler is being called is the outcome")
    func quickAnswer() async throws {
        let client = QuickClient(.answer(HandlerAnswer(.value(5), replyCommand: "shown")))
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .waitingBCO { _ in .handler(HandlerWait("x", of: client)) },
                .waitingBCO { _ in .handler(HandlerWait("x", of: client)) }
            )
        }) { daemon in
            let caller = daemon.connect()
            for id in 1...100 {
                caller.send("call?cmd=a&id=\(id)")
                #expect(caller.lines.drain() == ["handleJSONRequest?cmd=shown&msg=5&id=\(id)"])
            }
            #expect(client.awaited.withLock { $0 } == Array(repeating: true, count: 200))
            #expect(caller.connection.waitingCount == 0)
        }
    }

    @Test("A handler that is lost while it is being called fails the call")
    func quickLoss() async throws {
        let client = QuickClient(.lost(CommandError(.scriptFailed, "gone")))
        try await withDaemon({ mappings in
            mappings.map("a", .waitingBCO { _ in .handler(HandlerWait("x", of: client)) })
        }) { daemon in
            let caller = daemon.connect()
            caller.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(
                await caller.next()
                    == #"{"responseId":"1","error":{"cmd":"a","code":"scriptFailed","message":"gone"}}"#
            )
        }
    }

    @Test("A handler whose client has closed, or has ended its input, in the meantime fails the call")
    func closedMeanwhile() async throws {
        let handlers = Mutex<[TestClient]>([])
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .waitingBCO { _ in .handler(HandlerWait("x", of: handlers.withLock { $0[0] }.connection)) }
            )
        }) { daemon in
            let (client, handler) = (daemon.connect(), daemon.connect())
            handlers.withLock { $0 = [handler] }
            handler.connection.endInput()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(await client.next().contains(#""message":"the handler's connection closed""#))
            handler.connection.close()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(await client.next().contains(#""code":"scriptFailed""#))
            #expect(handler.lines.drain() == [LineQueue.end])
        }
    }

    @Test("A handler that is a command stands behind default's command objects as they are now, after a reload too")
    func reloaded() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("default", .bco { _ in .result("old") })
        }) { daemon in
            let (handler, client) = (daemon.connect(uid: 0), daemon.connect())
            handler.send(#"{"handlerName":"registerHandler","data":["lamp"]}"#)
            func results(_ number: Int) async -> String {
                client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
                let call = await handler.next()
                handler.send(#"{"responseId":"q\#(number)","responseData":1}"#)
                #expect(await client.next() == #"{"responseId":"1","responseData":1}"#)
                return call.firstMatch(of: /"results":(\[.*?\])/).map { String($0.output.1) } ?? ""
            }
            #expect(await results(1) == #"["old"]"#)
            #expect(await results(2) == #"["old"]"#)
            daemon.frontController.replaceTable(MappingTable())
            #expect(await results(3) == "[]")
        }
    }

    @Test("An interrupted call still tells its handlers in the error phase, and awaits no answer of theirs")
    func interruptedHandlers() async throws {
        let client = QuickClient(.answer(HandlerAnswer(.null)))
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("a", .waitsForEver, .waitingECO { _, _ in .handler(HandlerWait("x", of: client)) })
        }) { daemon in
            let caller = daemon.connect()
            caller.send(#"{"handlerName":"a","callbackId":"1"}"#)
            caller.send(#"{"handlerName":"cancel","data":"1"}"#)
            #expect(await caller.next().contains(#""code":"cancelled""#))
            #expect(client.awaited.withLock { $0 } == [false])
            #expect(client.forgotten.withLock { $0 } == [7])
        }
    }

    // MARK: Promises

    @Test("A promise that is settled already is the outcome at once")
    func settledPromise() async throws {
        let (good, bad) = (Promises(), Promises())
        good.promise.fulfil(.result(1))
        bad.promise.fail(CommandError(.busy, "taken"))
        try await withDaemon({ mappings in
            mappings.map("good", good.step, .vco { call in .reply(.array(call.results.values)) })
            mappings.map("bad", bad.step)
        }) { daemon in
            let client = daemon.connect()
            client.send("call?cmd=good&id=1")
            #expect(client.lines.drain() == ["handleJSONRequest?cmd=good&msg=%5B1%5D&id=1"])
            client.send(#"{"handlerName":"bad","callbackId":"1"}"#)
            #expect(
                client.lines.drain()
                    == [#"{"responseId":"1","error":{"cmd":"bad","code":"busy","message":"taken"}}"#]
            )
            #expect(good.cancellations.load(ordering: .relaxed) == 0)
        }
    }

    @Test("Who settles a promise goes on with the stack")
    func settledLater() async throws {
        let promises = Promises()
        try await withDaemon({ $0.map("a", promises.step, .bco { _ in .result(2) }) }) { daemon in
            let client = daemon.connect()
            client.send("call?cmd=a&id=1")
            #expect(client.connection.waitingCount == 1)
            promises.promise.fulfil(.proceed)
            #expect(client.lines.drain() == ["handleJSONRequest?cmd=a&msg=2&id=1"])
            #expect(client.connection.waitingCount == 0)
        }
    }

    @Test("A promise that nobody awaits any more is failed with cancelled, and its maker is told, once")
    func cancelledPromise() async throws {
        let promises = Promises()
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("a", promises.step)
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            for _ in 1...2 { client.send(#"{"handlerName":"cancel","data":"1"}"#) }
            #expect(await client.next().contains(#""code":"cancelled""#))
            #expect(promises.promise.isSettled)
            #expect(!promises.promise.fulfil(.result(1)))
            #expect(promises.cancellations.load(ordering: .relaxed) == 1)
        }
    }

    @Test("A promise that is made when its call is interrupted already is cancelled before it is awaited")
    func promiseTooLate() async throws {
        let promises = Promises()
        let door = Promise<BusinessOutcome>()
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .waitingBCO { _ in .promise(door) {} },
                .bco { call in
                    let connection = call.connection
                    connection.interruptCalls(id: nil, with: CommandError(.cancelled, "now"))
                    return .proceed
                },
                promises.step
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            door.fulfil(.proceed)
            #expect(
                client.lines.drain()
                    == [#"{"responseId":"1","error":{"cmd":"a","code":"cancelled","message":"now"}}"#]
            )
            #expect(promises.cancellations.load(ordering: .relaxed) == 1)
        }
    }

    @Test("A waiting command object that need not wait gives its outcome at once")
    func noNeedToWait() async throws {
        try await withDaemon({ $0.map("a", .waitingBCO { _ in .now(.result(1)) }) }) { daemon in
            let client = daemon.connect()
            client.send("call?cmd=a&id=1")
            #expect(client.lines.drain() == ["handleJSONRequest?cmd=a&msg=1&id=1"])
            #expect(client.connection.waitingCount == 0)
        }
    }

    @Test("Whichever of a promise and its interruption comes first counts, with one reply", arguments: 0..<4)
    func race(seed: Int) async throws {
        let made = Mutex<[Promise<BusinessOutcome>]>([])
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .waitingBCO { _ in
                    let promise = Promise<BusinessOutcome>()
                    made.withLock { $0.append(promise) }
                    return .promise(promise) {}
                }
            )
        }) { daemon in
            let client = daemon.connect()
            for _ in 0..<500 {
                client.send(#"{"handlerName":"a","callbackId":"x"}"#)
                let promise = try #require(made.withLock { $0.popLast() })
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { promise.fulfil(.result(1)) }
                    group.addTask { client.connection.interruptCalls(with: CommandError(.cancelled, "c")) }
                }
                #expect(client.lines.drain().count == 1)
            }
        }
    }
}

/// Keeps the alarms that are set, and rings them when the test says so.
private final class ManualClock: AlarmClock {
    private let alarms = Mutex<[(time: Duration, body: @Sendable () -> Void)]>([])

    func ring(after time: Duration, _ body: @escaping @Sendable () -> Void) {
        alarms.withLock { $0.append((time, body)) }
    }

    /// The times of all alarms that were set, in whole seconds, rounded up.
    var seconds: [Int64] { alarms.withLock { $0.map { ($0.time + .milliseconds(999)).components.seconds } } }

    func ring(_ index: Int) { alarms.withLock { $0[index].body }() }
}

@Suite("The deadlines of waiting calls", .timeLimit(.minutes(5)))
struct DeadlineTests {
    private static func withCommands(
        _ clock: any AlarmClock,
        _ timeouts: [Duration],
        test: (TestDaemon) async throws -> Void
    ) async throws {
        try await withDaemon(
            clock: clock,
            { mappings in
                mappings.mapShipped()
                for (index, timeout) in timeouts.enumerated() {
                    mappings.map("c\(index)", .waitsForEver, timeout: timeout)
                }
            },
            test: test
        )
    }

    @Test("Calls come due in the order of their deadlines, whatever the order they began in")
    func order() async throws {
        let times: [Duration] = [.seconds(2), .milliseconds(50), .seconds(1)]
        try await Self.withCommands(AlarmThread.shared, times) { daemon in
            let client = daemon.connect()
            let start = ContinuousClock.now
            for index in times.indices { client.send(#"{"handlerName":"c\#(index)","callbackId":"\#(index)"}"#) }
            for index in [1, 2, 0] {
                let reply = await client.next()
                #expect(reply.hasPrefix(#"{"responseId":"\#(index)","error":{"cmd":"c\#(index)","code":"timeout""#))
                #expect(ContinuousClock.now - start >= times[index])
            }
        }
    }

    @Test("One alarm is set for the first deadline, however many calls wait; another only for an earlier one")
    func oneAlarm() async throws {
        let clock = ManualClock()
        try await Self.withCommands(clock, [.seconds(30), .seconds(10), .seconds(20)]) { daemon in
            let client = daemon.connect()
            client.ignoreTheRest()
            for _ in 0..<100 { client.send("call?cmd=c0") }
            #expect(clock.seconds == [30])
            for _ in 0..<100 { client.send("call?cmd=c1") }
            for _ in 0..<100 { client.send("call?cmd=c2") }
            #expect(clock.seconds == [30, 10])
            // Too early: the calls go on to wait, and their alarm is set anew.
            clock.ring(1)
            #expect(clock.seconds.count == 3 && clock.seconds[2] <= 10)
            #expect(client.connection.waitingCount == 300)
            client.connection.interruptCalls(with: CommandError(.cancelled, "enough"))
        }
    }

    @Test("Where no call waits any more no alarm is set, and none is left behind")
    func noneLeft() async throws {
        let clock = ManualClock()
        try await Self.withCommands(clock, [.seconds(30), .seconds(10)]) { daemon in
            let client = daemon.connect()
            client.ignoreTheRest()
            for index in 0..<200 { client.send("call?cmd=c\(index % 2)") }
            client.connection.interruptCalls(with: CommandError(.cancelled, "enough"))
            for _ in 0..<200 { _ = await client.next() }
            let alarms = clock.seconds.count
            for index in 0..<alarms { clock.ring(index) }
            #expect(clock.seconds.count == alarms)
            // The next call has its alarm again.
            client.send("call?cmd=c0")
            #expect(clock.seconds.count == alarms + 1)
            client.connection.interruptCalls(with: CommandError(.cancelled, "enough"))
        }
    }

    @Test("Calls that are over are not kept until their deadline")
    func notKept() async throws {
        weak var connection: Connection?
        let clock = ManualClock()
        try await Self.withCommands(clock, [.seconds(3600)]) { daemon in
            let other = daemon.connect()
            other.ignoreTheRest()
            let lines = LineQueue()
            do {
                let gone = Connection(caller: .daemon, daemon.router, output: lines)
                connection = gone
                let driver = LineDriver(gone)
                for _ in 0..<50 { driver.receive(Array("call?cmd=c0".utf8)) }
                gone.close()
                for _ in 0..<50 { _ = await lines.next() }
            }
            other.send("call?cmd=c0")
            other.connection.close()
            _ = await other.next()
        }
        #expect(connection == nil)
    }

    @Test("What an ECO began that nobody awaits is cancelled when the daemon stops, and there are never too many of it")
    func unawaitedOperations() async throws {
        let (journal, never) = (Journal(), Promise<ErrorOutcome>())
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map(
                "a",
                .waits(for: Promise<BusinessOutcome>()),
                .ecoWaits { () async throws(CommandError) in
                    do throws(CommandError) { return try await never.value() } catch {
                        journal.note(error.code.rawValue)
                        throw error
                    }
                }
            )
            mappings.map(
                "flood",
                .waitsForEver,
                .ecoWaits { () async throws(CommandError) in
                    journal.note("begun")
                    return try await Promise<ErrorOutcome>().value()
                }
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            for _ in 0..<3 {
                for _ in 0..<500 { client.send(#"{"handlerName":"flood","callbackId":"1"}"#) }
                client.send(#"{"handlerName":"cancel","data":"1"}"#)
            }
            client.ignoreTheRest()
            #expect(client.connection.waitingCount == 0)
        }
        #expect(journal.notes.count { $0 == "begun" } == 1023 && journal.notes.contains("cancelled"))
    }
}

@Suite("The last failure of each command")
struct FailureLogTests {
    private static func fail(
        _ log: FailureLog,
        _ command: String,
        _ error: CommandError = CommandError(.busy, "taken"),
        isRefused: Bool = false,
        on connection: any CallConnection = NoConnection()
    ) {
        guard case .call(let request)? = messages(of: Array("call?cmd=x".utf8)).first else { return }
        var call = Call(keeping: request, CommandDescription(command), on: connection)
        call.isRefused = isRefused
        log.failed(call, with: error)
    }

    @Test("The last one is kept, with whose call it was; the next observer sees all")
    func last() {
        let next = FailureJournal()
        let log = FailureLog(next: next)
        Self.fail(log, "a")
        Self.fail(log, "a", CommandError(.timeout, "late"), on: NoConnection(Caller(.gateway(name: "g", user: "u"))))
        Self.fail(log, "b", CommandError(.unknownCommand, "no"))
        #expect(log.last(of: "a")?.error == CommandError(.timeout, "late"))
        #expect(log.last(of: "a")?.caller == Caller(.gateway(name: "g", user: "u")))
        #expect(log.last(of: "b") == nil)
        #expect(next.journal.notes == ["a: busy", "a: timeout", "b: unknownCommand"])
    }

    @Test("What guests were refused, and commands with very long names, are not kept")
    func notKept() {
        let log = FailureLog(next: nil)
        let place = SourceLocation(file: "a", line: 1, column: 1)
        let guests = NoConnection(socketRule: SocketRule(name: "s", commands: [], connections: 1, location: place))
        Self.fail(log, "a", CommandError(.denied, "no"), isRefused: true, on: guests)
        #expect(log.last(of: "a") == nil)
        Self.fail(log, "a", CommandError(.denied, "no"), isRefused: true)
        #expect(log.last(of: "a")?.error.code == .denied)
        Self.fail(log, "b", on: guests)
        #expect(log.last(of: "b")?.error.code == .busy)
        let name = String(repeating: "n", count: 128)
        Self.fail(log, name)
        Self.fail(log, name + "n")
        #expect(log.last(of: name) != nil && log.last(of: name + "n") == nil)
    }

    @Test("Names are kept by their bytes, and no more than 1,024 of them")
    func bounded() {
        let log = FailureLog(next: nil)
        Self.fail(log, "n\u{E9}")
        #expect(log.last(of: "ne\u{301}") == nil)
        for number in 0..<5000 {
            Self.fail(log, "c\(number)")
            #expect(log.last(of: "c\(number)") != nil)
        }
        #expect((0..<5000).count { log.last(of: "c\($0)") != nil } == 1024)
    }

    @Test("With one too many the oldest is forgotten, which is the one whose command has not failed for longest")
    func oldest() {
        let log = FailureLog(next: nil)
        for number in 0..<1024 { Self.fail(log, "c\(number)") }
        for _ in 0..<5000 { Self.fail(log, "c0") }
        #expect(log.last(of: "c0")?.count == 5001)
        Self.fail(log, "new")
        #expect(log.last(of: "c0") != nil && log.last(of: "c1") == nil && log.last(of: "c2") != nil)
    }
}
