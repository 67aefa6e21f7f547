import Concurrency
import JSON
import QuickConnect
import Synchronization

// Command objects made of closures, one kind for each phase.

struct TestValCO: ValCO {
    typealias Body = @Sendable (borrowing Call) throws(CommandError) -> ValidationOutcome
    let body: Body
    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome { try body(call) }
}

struct TestBCO: BCO {
    typealias Body = @Sendable (borrowing Call) throws(CommandError) -> BusinessOutcome
    let body: Body
    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome { try body(call) }
}

struct TestVCO: VCO {
    typealias Body = @Sendable (borrowing Call) throws(CommandError) -> ViewOutcome
    let body: Body
    func show(_ call: borrowing Call) throws(CommandError) -> ViewOutcome { try body(call) }
}

struct TestECO: ECO {
    typealias Body = @Sendable (CommandError, borrowing Call) throws(CommandError) -> ErrorOutcome
    let body: Body
    func see(_ error: CommandError, of call: borrowing Call) throws(CommandError) -> ErrorOutcome {
        try body(error, call)
    }
}

struct WaitingTestValCO: WaitingValCO {
    typealias Body = @Sendable (borrowing Call) throws(CommandError) -> Awaited<ValidationOutcome>
    let body: Body
    func validate(_ call: borrowing Call) throws(CommandError) -> Awaited<ValidationOutcome> { try body(call) }
}

struct WaitingTestBCO: WaitingBCO {
    typealias Body = @Sendable (borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome>
    let body: Body
    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> { try body(call) }
}

struct WaitingTestVCO: WaitingVCO {
    typealias Body = @Sendable (borrowing Call) throws(CommandError) -> Awaited<ViewOutcome>
    let body: Body
    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> { try body(call) }
}

struct WaitingTestECO: WaitingECO {
    typealias Body = @Sendable (CommandError, borrowing Call) throws(CommandError) -> Awaited<ErrorOutcome>
    let body: Body
    func see(_ error: CommandError, of call: borrowing Call) throws(CommandError) -> Awaited<ErrorOutcome> {
        try body(error, call)
    }
}

/// One step of a command that a test maps.
enum TestStep: Sendable {
    case object(any CommandObject, Phase)
    case script(String, Phase)
    /// A shipped command object, by its name in the catalog.
    case shipped(String, Phase)

    static func val(_ body: @escaping TestValCO.Body) -> TestStep { .object(TestValCO(body: body), .validation) }
    static func bco(_ body: @escaping TestBCO.Body) -> TestStep { .object(TestBCO(body: body), .business) }
    static func vco(_ body: @escaping TestVCO.Body) -> TestStep { .object(TestVCO(body: body), .view) }
    static func eco(_ body: @escaping TestECO.Body) -> TestStep { .object(TestECO(body: body), .error) }

    /// A BCO that may wait.
    static func waitingBCO(_ body: @escaping WaitingTestBCO.Body) -> TestStep {
        .object(WaitingTestBCO(body: body), .business)
    }

    /// An ECO that may wait.
    static func waitingECO(_ body: @escaping WaitingTestECO.Body) -> TestStep {
        .object(WaitingTestECO(body: body), .error)
    }

    // Command objects that wait for an operation.

    static func valWaits(for operation: @escaping Awaited<ValidationOutcome>.Operation) -> TestStep {
        .object(WaitingTestValCO { _ in .wait(operation) }, .validation)
    }

    static func waits(for operation: @escaping Awaited<BusinessOutcome>.Operation) -> TestStep {
        .waitingBCO { _ in .wait(operation) }
    }

    static func vcoWaits(for operation: @escaping Awaited<ViewOutcome>.Operation) -> TestStep {
        .object(WaitingTestVCO { _ in .wait(operation) }, .view)
    }

    static func ecoWaits(for operation: @escaping Awaited<ErrorOutcome>.Operation) -> TestStep {
        .waitingECO { _, _ in .wait(operation) }
    }

    /// A BCO that waits, in a task, for the promise.
    static func waits(for promise: Promise<BusinessOutcome>) -> TestStep {
        waits { () async throws(CommandError) in try await promise.value() }
    }

    /// An ECO that waits, in a task, for the promise.
    static func ecoWaits(for promise: Promise<ErrorOutcome>) -> TestStep {
        ecoWaits { () async throws(CommandError) in try await promise.value() }
    }

    /// A BCO that waits for a promise of its own with each call, and never gets it.
    static var waitsForEver: TestStep {
        .waitingBCO { _ in
            let never = Promise<BusinessOutcome>()
            return .wait { () async throws(CommandError) in try await never.value() }
        }
    }

    /// A command object that notes its name.
    static func notes(_ name: String, _ phase: Phase, in journal: Journal) -> TestStep {
        switch phase {
        case .validation:
            .val { _ in
                journal.note(name)
                return .accept
            }
        case .business:
            .bco { _ in
                journal.note(name)
                return .proceed
            }
        case .view:
            .vco { _ in
                journal.note(name)
                return .proceed
            }
        case .error:
            .eco { _, _ in
                journal.note(name)
                return .proceed
            }
        }
    }
}

extension Call {
    /// All arguments as values.
    var arguments: [JSONValue] {
        var arguments: [JSONValue] = []
        for index in 0..<argumentCount { arguments.append(argument(index).value) }
        return arguments
    }
}

extension BusinessOutcome {
    static func end(_ value: JSONValue) -> BusinessOutcome { .end(.value(value), under: nil) }
}

extension ViewOutcome {
    static func end(_ value: JSONValue) -> ViewOutcome { .end(.value(value), under: nil) }
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
