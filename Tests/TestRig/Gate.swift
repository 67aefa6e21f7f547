internal import Foundation

/// Where threads stop until a test opens it: a driver that hangs, without a clock.
public final class Gate: Sendable {
    private let condition = NSCondition()
    // Only used under the condition's lock.
    nonisolated(unsafe) private var isOpen = false

    public init() {}

    public func open() {
        condition.withLock { isOpen = true }
        condition.broadcast()
    }

    public func pass() {
        condition.withLock { while !isOpen { condition.wait() } }
    }
}
