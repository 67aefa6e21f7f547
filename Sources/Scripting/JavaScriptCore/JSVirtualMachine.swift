internal import CJavaScriptCore
internal import CJavaScriptCoreShims
internal import Synchronization

/// A JavaScript engine: a heap, and the contexts that share it.
///
/// Any thread may call into it. Calls into one machine wait for each other; to run scripts in parallel, use several
/// machines. Values can pass between the contexts of one machine, never to another machine.
public final class JSVirtualMachine: @unchecked Sendable {
    // Sendable because the library takes the machine's lock in each of its functions, and the rest is guarded.
    let group: OpaquePointer
    let releaseQueue = ReleaseQueue()
    private let support = Mutex<ObjectSupport?>(nil)
    /// The object that the library has a pointer to.
    private let stop = Mutex<StopBox?>(nil)

    /// A new machine. It shares nothing with others.
    public init!() { group = JSContextGroupCreate() }

    deinit {
        qc_js_clear_time_limit(group)
        support.withLock { $0 = nil }
        JSContextGroupRelease(group)
        releaseQueue.empty()
    }

    /// Keeps the value of a managed value alive as long as JavaScript can reach `owner`, a Swift object that has been
    /// exported to it. Without this, or once removed, the value is held weakly.
    ///
    /// - Parameters:
    ///   - object: a ``JSManagedValue``; anything else is ignored.
    ///   - owner: the object that holds it; nothing happens if it is not exported.
    public func addManagedReference(_ object: Any!, withOwner owner: Any!) {
        guard let value = object as? JSManagedValue, let owner = owner as? any JSExport else { return }
        value.keep(withOwner: owner, in: self)
    }

    /// Undoes one call of ``addManagedReference(_:withOwner:)``. Nothing happens if that call did nothing.
    public func removeManagedReference(_ object: Any!, withOwner owner: Any!) {
        guard let value = object as? JSManagedValue, let owner = owner as? any JSExport else { return }
        value.release(fromOwner: owner, in: self)
    }

    /// Collects garbage now. For tests, and for programs that have just released much memory.
    public func collectGarbage() {
        guard let context = JSContext(virtualMachine: self) else { return }
        qc_js_collect(context.ref)
        releaseQueue.empty()
    }

    /// Terminates JavaScript that uses more than `seconds` of CPU time without returning.
    ///
    /// `shouldEnd` is called on the thread that runs the script, with the call stack, innermost first (`name() at
    /// file:line`). If it returns true, the script ends with an exception that it cannot catch. `shouldEnd` must not
    /// use the machine. The limit stops loops, regular expressions and sorts; it does not stop an endless chain of
    /// promises, nor native code that blocks.
    /// - Parameters:
    ///   - seconds: the time; 0, negative values and NaN end a script at the first check, infinity never does.
    ///   - shouldEnd: decides. If it returns false, it is not called again until a limit is set again.
    /// - Returns: false if the installed library cannot limit time.
    @discardableResult
    public func setExecutionTimeLimit(
        _ seconds: Double,
        shouldEnd: @escaping @Sendable (_ backtrace: [String]) -> Bool
    ) -> Bool {
        let box = StopBox(shouldEnd)
        let (isLimited, old) = stop.withLock { stop in
            let old = stop
            stop = box
            let pointer = Unmanaged.passUnretained(box).toOpaque()
            return (qc_js_set_time_limit(group, seconds, StopBox.call, pointer), old)
        }
        // Released only now, when the library points to the new one, and outside of the lock: its deinitializer may set
        // a limit.
        withExtendedLifetime(old) {}
        return isLimited
    }

    /// Removes the limit.
    public func clearExecutionTimeLimit() { qc_js_clear_time_limit(group) }

    /// The machine's records of Swift objects; made when first needed.
    func objectSupport() -> ObjectSupport {
        support.withLock { support in
            if let support { return support }
            let new = ObjectSupport(group)
            support = new
            return new
        }
    }
}

/// Decides whether a script ends, in the form that the library keeps.
private final class StopBox: Sendable {
    let shouldEnd: @Sendable ([String]) -> Bool

    init(_ shouldEnd: @escaping @Sendable ([String]) -> Bool) { self.shouldEnd = shouldEnd }

    static let call: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Bool = { context, box in
        guard let context, let box else { return true }
        let lines = qc_js_backtrace(context, 16).map { Text.take($0) } ?? ""
        let frames = lines.split(separator: "\n").map { line in
            String(line.drop { $0 != " " }.dropFirst())
        }
        return Unmanaged<StopBox>.fromOpaque(box).takeUnretainedValue().shouldEnd(frames)
    }
}

/// Swift objects that JavaScript has released. A finalizer runs during a collection, when the machine must not be used,
/// and releasing the last reference to a Swift object may release values of it. So they are released later.
final class ReleaseQueue: Sendable {
    private let dead = Mutex<[any AnyObject & Sendable]>([])
    private let isEmpty = Atomic(true)

    func releaseLater(_ object: any AnyObject & Sendable) {
        dead.withLock { $0.append(object) }
        isEmpty.store(false, ordering: .releasing)
    }

    func empty() {
        guard !isEmpty.load(ordering: .acquiring) else { return }
        isEmpty.store(true, ordering: .relaxed)
        // Released outside the lock: a deinitializer may call the machine, which may collect garbage and add objects
        // here.
        let objects = dead.withLock { dead in
            defer { dead = [] }
            return dead
        }
        withExtendedLifetime(objects) {}
    }
}
