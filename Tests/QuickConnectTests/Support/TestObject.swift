import Concurrency
import QuickConnect
import Synchronization

/// A command object made of a closure.
struct TestObject: CommandObject {
    typealias Body = @Sendable (borrowing Call) throws(CommandError) -> Outcome

    let phase: Phase
    var waits = false
    let body: Body

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome { try body(call) }
}

/// One step of a command that a test maps.
enum TestStep: Sendable {
    case object(TestObject)
    case script(String, Phase)
    /// A shipped command object, by its name in the catalog.
    case shipped(String, Phase)

    static func val(_ body: @escaping TestObject.Body) -> TestStep {
        .object(TestObject(phase: .validation, body: body))
    }
    static func bco(_ body: @escaping TestObject.Body) -> TestStep {
        .object(TestObject(phase: .business, body: body))
    }
    static func vco(_ body: @escaping TestObject.Body) -> TestStep { .object(TestObject(phase: .view, body: body)) }
    static func eco(_ body: @escaping TestObject.Body) -> TestStep { .object(TestObject(phase: .error, body: body)) }

    /// A command object that waits for the operation.
    static func waits(_ phase: Phase = .business, for operation: @escaping Outcome.Operation) -> TestStep {
        .object(TestObject(phase: phase, waits: true) { _ in .wait(operation) })
    }

    /// A command object that waits for the promise.
    static func waits(_ phase: Phase = .business, for promise: Promise<Outcome>) -> TestStep {
        waits(phase) { () async throws(CommandError) in try await promise.value() }
    }

    /// A command object that notes its name.
    static func notes(_ name: String, _ phase: Phase, in journal: Journal) -> TestStep {
        .object(
            TestObject(phase: phase) { _ in
                journal.note(name)
                return .proceed
            }
        )
    }
}

/// What happened, in its order.
final class Journal: Sendable {
    private let entries = Mutex<[String]>([])

    func note(_ entry: String) { entries.withLock { $0.append(entry) } }
    var notes: [String] { entries.withLock { $0 } }
}

/// A door that an operation waits at without heed of its cancellation.
final class Door: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// Keeps what an observer of failures sees.
struct FailureJournal: CallObserver {
    let journal = Journal()

    func failed(_ call: borrowing Call, with error: CommandError) {
        journal.note("\(call.command): \(error.code.rawValue)")
    }
}
