internal import CTestRig
internal import Foundation
internal import Synchronization

/// A thread of its own in which the kernel refuses openat2(2).
public enum RefusedCall {
    /// Runs `body` there.
    /// - Parameter error: the error number that each openat2(2) fails with.
    /// - Returns: nil if it cannot be refused here. Fails if `body` does not end in time.
    public static func openat2<Value: Sendable>(
        _ error: Int32,
        _ body: @escaping @Sendable () -> Value
    ) async throws -> Value? {
        let result = Box<Value?>()
        let thread = Thread { result.set(qct_refuse_openat2(error) == 0 ? body() : nil) }
        thread.start()
        try await eventually("what must not wait for openat2 ends") { result.value != nil }
        return result.value ?? nil
    }

    private final class Box<Value: Sendable>: Sendable {
        private let state = Mutex<Value?>(nil)

        var value: Value? { state.withLock { $0 } }
        func set(_ value: Value) { state.withLock { $0 = value } }
    }
}
