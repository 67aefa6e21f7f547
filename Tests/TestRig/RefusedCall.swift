internal import CTestRig
internal import Foundation
internal import Synchronization

/// A thread of its own in which the kernel refuses a system call.
public enum RefusedCall: Sendable {
    case openat2
    /// read(2) of the eight bytes of a timer or a counter.
    case counterReads
    case timerSettings

    /// Runs `body` there.
    /// - Parameter error: the error number that each such call fails with.
    /// - Returns: nil if it cannot be refused here. Fails if `body` does not end in time.
    public func with<Value: Sendable>(_ error: Int32, _ body: @escaping @Sendable () -> Value) async throws -> Value? {
        let result = Box<Value?>()
        let thread = Thread { result.set(begin(error) == 0 ? body() : nil) }
        thread.start()
        try await eventually("what must not wait for a refused call ends") { result.value != nil }
        return result.value ?? nil
    }

    private func begin(_ error: Int32) -> Int32 {
        switch self {
        case .openat2: qct_refuse_openat2(error)
        case .counterReads: qct_refuse_counters(error)
        case .timerSettings: qct_refuse_timers(error)
        }
    }

    private final class Box<Value: Sendable>: Sendable {
        private let state = Mutex<Value?>(nil)

        var value: Value? { state.withLock { $0 } }
        func set(_ value: Value) { state.withLock { $0 = value } }
    }
}
