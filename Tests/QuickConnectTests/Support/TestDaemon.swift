import Concurrency
import CoreModel
import QuickConnect
import Synchronization
import Testing

/// A front controller whose waiting calls run, and its clients, all in memory.
final class TestDaemon: Sendable {
    /// The user that the daemon runs as in tests.
    static let uid: UInt32 = 990

    let router: Router
    let permissions: Permissions
    let waitingCalls: WaitingCalls
    private let clients = Mutex<[TestClient]>([])

    var frontController: FrontController { router.frontController }
    var handlers: HandlerRegistry { router.handlers }
    var events: EventHub { router.events }

    init(
        _ mappings: TestMappings,
        handlerRule: AllowRule? = nil,
        limits: Limits = Limits(),
        observer: (any CallObserver)? = nil,
        clock: any AlarmClock = AlarmThread.shared
    ) throws {
        waitingCalls = WaitingCalls(clock: clock)
        permissions = Permissions(ownUID: Self.uid, handlerCommands: handlerRule)
        let events = EventHub(limits: limits)
        let handlers = HandlerRegistry(permissions: permissions, events: events, limits: limits)
        let controller = FrontController(
            table: MappingTable(),
            handlers: handlers,
            permissions: permissions,
            limits: limits,
            waitingCalls: waitingCalls,
            observer: observer
        )
        router = Router(controller, handlers, events)
        router.replaceTable(try mappings.table(router, permissions))
    }

    /// A new connection, of user alice where nothing else is said.
    func connect(uid: UInt32 = 1000, groups: Set<UInt32> = [], rule: SocketRule? = nil) -> TestClient {
        let caller = Caller(.peer(uid: uid, pid: 42, groups: groups), userName: TestAccounts.name(ofUser: uid))
        let client = TestClient(caller, router, socketRule: rule)
        clients.withLock { $0.append(client) }
        return client
    }

    /// Lines that a client got and the test did not ask for are a mistake: a second reply, mostly.
    fileprivate func checkNothingIsUnread(_ location: Testing.SourceLocation) {
        for client in clients.withLock({ $0 }) where client.expectsNothingMore {
            let unread = client.lines.unread
            #expect(unread == [], "unread lines", sourceLocation: location)
        }
    }
}

/// One connection, and its client.
final class TestClient: Sendable {
    let connection: Connection
    let driver: LineDriver
    let lines = LineQueue()
    /// Whether the test fails where lines are left unread.
    private let isChecked = Atomic<Bool>(true)

    init(_ caller: Caller, _ router: Router, socketRule: SocketRule? = nil) {
        connection = Connection(caller: caller, router, output: lines, socketRule: socketRule)
        driver = LineDriver(connection)
    }

    func send(_ line: String) { driver.receive(Array(line.utf8)) }

    /// The next line, ``LineQueue/end`` behind the last one.
    func next() async -> String { await lines.next() ?? "<no line in time>" }

    var expectsNothingMore: Bool { isChecked.load(ordering: .relaxed) }

    /// The lines that are left are of no interest.
    func ignoreTheRest() { isChecked.store(false, ordering: .relaxed) }
}

/// Runs a test against a daemon with the commands that `map` maps, then waits until every call is over.
func withDaemon(
    handlerRule: AllowRule? = nil,
    limits: Limits = Limits(),
    observer: (any CallObserver)? = nil,
    clock: any AlarmClock = AlarmThread.shared,
    _ map: (inout TestMappings) -> Void = { _ in },
    sourceLocation: Testing.SourceLocation = #_sourceLocation,
    test: (TestDaemon) async throws -> Void
) async throws {
    var mappings = TestMappings()
    map(&mappings)
    let daemon = try TestDaemon(mappings, handlerRule: handlerRule, limits: limits, observer: observer, clock: clock)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await daemon.waitingCalls.run() }
        do {
            try await test(daemon)
        } catch {
            group.cancelAll()
            throw error
        }
        daemon.waitingCalls.finish()
        try await group.waitForAll()
    }
    daemon.checkNothingIsUnread(sourceLocation)
}
