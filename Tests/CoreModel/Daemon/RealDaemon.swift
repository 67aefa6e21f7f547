import JSON
import QuickConnect
import Synchronization

/// The daemon's core with a history's device, on the thread of whoever drives it. It is made for one history.
final class RealDaemon {
    private let device: Device
    private let journal = Journal()
    private let clock = SteppedClock()
    private let executor = SteppedExecutor()
    private let waitingCalls: WaitingCalls
    private let permissions: Permissions
    private let router: Router
    private let names: HandlerNames
    private var clients: [RealClient] = []
    private let task: Task<Void, Never>
    private let isIdle: Box<Bool>

    init(_ device: Device) throws {
        self.device = device
        let waitingCalls = WaitingCalls(clock: clock)
        self.waitingCalls = waitingCalls
        let place = SourceLocation(file: "quickconnectd.yaml", line: 1, column: 1)
        let users = Set(Device.users.indices.filter(Device.mayHandleCommands).map(Device.uid))
        let rule = AllowRule(userNames: [], groupNames: [], users: users, groups: [], location: place)
        permissions = Permissions(ownUID: 990, handlerCommands: rule)
        var limits = Limits()
        limits.callsPerConnection = device.maxCalls
        limits.handlersPerConnection = device.maxHandlers
        limits.subscriptionsPerConnection = device.maxSubscriptions
        let events = EventHub(limits: limits)
        let handlers = HandlerRegistry(permissions: permissions, events: events, limits: limits)
        let controller = FrontController(
            table: MappingTable(),
            handlers: handlers,
            permissions: permissions,
            limits: limits,
            waitingCalls: waitingCalls,
            observer: FailureNotes(journal: journal)
        )
        router = Router(controller, handlers, events)
        names = HandlerNames()
        let isIdle = Box(false)
        self.isIdle = isIdle
        task = Task(executorPreference: executor) {
            await waitingCalls.run()
            isIdle.set(true)
        }
        router.replaceTable(try table(0))
        clients = (0..<device.connections).map { RealClient($0, router, journal, names) }
        executor.runAll()
    }

    private func table(_ number: Int) throws -> MappingTable {
        try RealMappings(journal: journal).table(device.tables[number], router, permissions)
    }

    /// Takes one step, and tells what came of it.
    func take(_ step: Step) throws -> [String] {
        switch step {
        case .calls(let connection, let lines): clients[connection].send(lines)
        case .settle(let key, let outcome): journal.open(key, outcome)
        case .answer(let key, let answer):
            if let (connection, number) = names.place(of: key) { clients[connection].answer(number, answer) }
        case .stray(let connection): clients[connection].answer(1 << 30, .value("null", under: nil, ends: false))
        case .alarm: clock.ringAll()
        case .endInput(let connection): clients[connection].endInput()
        case .close(let connection): clients[connection].close()
        case .reload(let number): router.replaceTable(try table(number))
        case .finish: waitingCalls.finish()
        case .endAll:
            let error = CommandError(.cancelled, "the daemon is stopping")
            for client in clients { client.connection.interruptCalls(with: error) }
        }
        executor.runAll()
        return journal.take() + [state]
    }

    private var state: String {
        Told.state(
            waiting: clients.map(\.connection.waitingCount),
            dropped: router.handlers.droppedAnswerCount,
            handlers: router.handlers.holders.map { holder in
                (holder.name, clients.firstIndex { $0.connection === holder.client } ?? -1)
            },
            subscribers: router.events.subscriberCounts
        )
    }

    /// Lets go of everything, and says what is left, which should be nothing.
    func end() -> String? {
        journal.openAll()
        for client in clients { client.stopReading() }
        for client in clients { client.close() }
        executor.runAll()
        if !isIdle.value { return "it did not come to its end: something still runs" }
        return journal.take().first.map { "it did something behind its end: \($0)" }
    }

    deinit {
        task.cancel()
        journal.forget()
        // Its command objects know the router, which has the table: what lives as long as a daemon would never go.
        router.frontController.replaceTable(MappingTable())
    }
}

/// A value that a task tells.
private final class Box<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>
    init(_ value: Value) { mutex = Mutex(value) }
    var value: Value { mutex.withLock { $0 } }
    func set(_ value: Value) { mutex.withLock { $0 = value } }
}
