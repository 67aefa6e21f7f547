import Concurrency
import Fuzzer
import JSON
import Synchronization

@testable import Commands
@testable import QuickConnect

/// A daemon without sockets: one thread, a clock that is told when to ring, and waits that are told when to end.
final class SessionDaemon {
    static let limits: Limits = {
        var limits = Limits()
        limits.lineBytes = 400
        limits.depth = 12
        limits.callsPerConnection = 4
        limits.handlersPerConnection = 3
        limits.subscriptionsPerConnection = 3
        return limits
    }()

    let router: Router
    private let waitingCalls: WaitingCalls
    private let clock = SessionClock()
    private let waits = SessionWaits()
    private let permissions = Permissions(ownUID: 990)
    private let table: MappingTable
    /// What a reload puts in place: nobody may answer for the handlers of its mappings.
    private lazy var other = SessionMappings(router, permissions, waits).table(answeredBy: [])

    init() {
        waitingCalls = WaitingCalls(clock: clock)
        let events = EventHub(limits: Self.limits)
        let handlers = HandlerRegistry(permissions: permissions, events: events, limits: Self.limits)
        let controller = FrontController(
            table: MappingTable(),
            handlers: handlers,
            permissions: permissions,
            limits: Self.limits,
            waitingCalls: waitingCalls
        )
        router = Router(controller, handlers, events)
        events.add(SessionSensor())
        table = SessionMappings(router, permissions, waits).table(answeredBy: ["alice"])
        router.replaceTable(table)
    }

    func perform(_ what: UInt8) {
        switch what {
        case UInt8(ascii: "s"): settleFirst()
        case UInt8(ascii: "f"): settleFirst(failing: true)
        case UInt8(ascii: "t"): ring()
        case UInt8(ascii: "r"): router.replaceTable(router.frontController.currentTable === table ? other : table)
        case UInt8(ascii: "x"): stop()
        default: break
        }
    }

    @discardableResult
    func settleFirst(failing: Bool = false) -> Bool { waits.settleFirst(failing: failing) }

    func ring() { clock.ring() }

    private(set) var isStopping = false

    func stop() {
        isStopping = true
        waitingCalls.finish()
    }

    /// Both clients have hung up.
    func checkEnd() {
        check(waitingCalls.count == 0, "no call waits any more")
        check(router.handlers.count == 0, "nobody's handler is left")
        check(router.events.subscriberCounts.isEmpty, "nobody's subscription is left")
        // What a device keeps for a call that is over is its own.
        waits.forget()
        ring()
        // A daemon's commands have the router, and it has them.
        if isStopping { router.replaceTable(MappingTable()) } else { router.replaceTable(table) }
    }
}

/// Rings only when it is told to.
final class SessionClock: AlarmClock, Sendable {
    private let bodies = Mutex<[@Sendable () -> Void]>([])

    func ring(after time: Duration, _ body: @escaping @Sendable () -> Void) { bodies.withLock { $0.append(body) } }

    func ring() {
        let due = bodies.withLock { bodies in
            defer { bodies = [] }
            return bodies
        }
        for body in due { body() }
    }
}

/// What the calls wait for, the oldest first.
final class SessionWaits: Sendable {
    private typealias End = @Sendable (_ failing: Bool) -> Void

    private let ends = Mutex<[End]>([])

    /// What some phase waits for.
    func wait<Outcome: Sendable>(_ outcome: Outcome) -> Awaited<Outcome> {
        let promise = Promise<Outcome>()
        ends.withLock { ends in
            ends.append { failing in
                if failing { promise.fail(CommandError(.busy, "taken")) } else { promise.fulfil(outcome) }
            }
        }
        return .promise(promise, onCancel: {})
    }

    func settleFirst(failing: Bool) -> Bool {
        let end = ends.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        end?(failing)
        return end != nil
    }

    func forget() { ends.withLock { $0 = [] } }
}

/// Says at once what it measures when somebody subscribes.
private struct SessionSensor: EventSource {
    let name = "volumeState"

    func check(options: JSONObject) throws(CommandError) {}
    func start(publishingTo hub: EventHub) { hub.publish(Event(name, 1, kind: .sensor)) }
    func stop() {}
}
