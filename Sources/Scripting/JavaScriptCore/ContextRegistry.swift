internal import Synchronization

/// Maps contexts of the library to their Swift objects.
enum ContextRegistry {
    private struct Entry: @unchecked Sendable {
        // Sendable because a weak reference may be read on any thread.
        weak var context: JSContext?
    }

    private static let contexts = Mutex<[UInt: Entry]>([:])

    static func add(_ context: JSContext) {
        let key = UInt(bitPattern: context.ref)
        let entry = Entry(context: context)
        contexts.withLock { $0[key] = entry }
    }

    static func remove(_ ref: OpaquePointer) {
        let key = UInt(bitPattern: ref)
        // The weak reference of the released object is already nil, and another object may have replaced it. If that
        // one is released just now, it must happen outside of the lock, because its deinitializer takes it.
        let other = contexts.withLock { contexts in
            let context = contexts[key]?.context
            if context == nil { contexts[key] = nil }
            return context
        }
        withExtendedLifetime(other) {}
    }

    static func find(_ ref: OpaquePointer) -> JSContext? {
        let key = UInt(bitPattern: ref)
        return contexts.withLock { $0[key] }?.context
    }
}
