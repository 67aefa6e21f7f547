import Synchronization

@testable import QuickConnect

/// The connection of a call that came on none.
final class NoConnection: CallConnection {
    let caller: Caller
    let socketRule: SocketRule?
    let process: CallingProcess?
    /// Whether it answers for handlers.
    let mayAnswer = Atomic<Bool>(false)
    /// The event that it got last.
    let lastEvent = Mutex<Event?>(nil)

    init(_ caller: Caller = .daemon, socketRule: SocketRule? = nil, process: CallingProcess? = nil) {
        self.caller = caller
        self.socketRule = socketRule
        self.process = process
    }

    var isClosed: Bool { false }
    var answers: Bool { mayAnswer.load(ordering: .relaxed) }
    func whenClosed(_ body: @escaping @Sendable () -> Void) {}
    func interruptCalls(id: String?, with error: CommandError) {}
    func act(for user: String, groups: Set<String>, hearsLeases: Bool) throws(CommandError) {}
    func report(_ error: CommandError, of command: String, form: WireForm) {}
    func send(_ event: Event, form: WireForm) { lastEvent.withLock { $0 = event } }
    func forgetAnswer(_ number: Int) {}

    func callHandler(
        _ handler: String,
        _ call: borrowing Call,
        in phase: Phase,
        for receiver: any AnswerReceiver
    ) -> Int { 0 }
}

extension Call {
    /// One that lives by itself, outside of a stack.
    init(keeping request: Request, _ description: CommandDescription, on connection: any CallConnection) {
        self.init(request, description, on: connection)
        keep()
    }
}
