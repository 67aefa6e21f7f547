internal import Synchronization

/// Which object stands for which context of the library.
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
        // The weak reference of the one that goes is nil already; another one may have taken its place. Should that
        // go just now, it goes outside of the lock, which it needs.
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
