import MacroEngine
import Synchronization

/// What an engine's handler was told.
final class Heard: Sendable {
    private let list = Mutex<[MacroError]>([])

    init(_ engine: MacroEngine) {
        engine.exceptionHandler = { [self] error in list.withLock { $0.append(error) } }
    }

    /// All of it; the next asker hears only what came since.
    func take() -> [MacroError] {
        list.withLock { errors in
            defer { errors = [] }
            return errors
        }
    }
}
