internal import CJavaScriptCore
internal import CJavaScriptCoreShims
internal import Synchronization

/// A JavaScript engine of its own: a heap, and the contexts that share it.
///
/// Any thread may call into it. Calls into one machine wait for each other; what is to run at the same time needs
/// several machines. Values pass between the contexts of one machine and never to another.
public final class JSVirtualMachine: @unchecked Sendable {
    // Sendable because the library takes the machine's lock in each of its functions, and the rest is guarded.
    let group: OpaquePointer
    let graveyard = Graveyard()
    private let support = Mutex<ObjectSupport?>(nil)
    /// What the library has a pointer to.
    private let stop = Mutex<StopBox?>(nil)

    /// A new machine, which shares nothing with others.
    public init!() { group = JSContextGroupCreate() }

    deinit {
        qc_js_clear_time_limit(group)
        support.withLock { $0 = nil }
        JSContextGroupRelease(group)
        graveyard.empty()
    }

    /// Keeps the value of a managed value alive as long as JavaScript can reach `owner`, a Swift object that has been
    /// exported to it. Without this, or once removed, the value is held weakly.
    ///
    /// - Parameters:
    ///   - object: a ``JSManagedValue``; anything else is ignored.
    ///   - owner: the object that holds it; nothing happens where it exports nothing.
    public func addManagedReference(_ object: Any!, withOwner owner: Any!) {
        guard let value = object as? JSManagedValue, let owner = owner as? any JSExport else { return }
        value.keep(withOwner: owner, in: self)
    }

    /// Takes back what ``addManagedReference(_:withOwner:)`` did, once. Nothing happens where it did nothing.
    public func removeManagedReference(_ object: Any!, withOwner owner: Any!) {
        guard let value = object as? JSManagedValue, let owner = owner as? any JSExport else { return }
        value.release(fromOwner: owner, in: self)
    }

    /// Collects garbage now. For tests, and for programs that know that they have just dropped much.
    public func collectGarbage() {
        guard let context = JSContext(virtualMachine: self) else { return }
        qc_js_collect(context.ref)
        graveyard.empty()
    }

    /// Ends JavaScript that uses more than `seconds` of CPU time without returning.
    ///
    /// `shouldEnd` is called on the thread that runs it, with the functions that run then, innermost first
    /// (`name() at file:line`); where it says true the script is ended with an exception that it cannot catch. It
    /// may not use the machine. The limit stops loops, regular expressions and sorts; it does not stop an endless chain
    /// of promises, nor native code that blocks.
    /// - Parameters:
    ///   - seconds: the time; 0, less, and NaN end a script as soon as the machine looks, infinity never does.
    ///   - shouldEnd: decides. Where it says false, it is not asked again until a limit is set again.
    /// - Returns: false where the installed library cannot limit time.
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
        // It goes when the library points to the new one, and outside of the lock: what it keeps may set a limit.
        withExtendedLifetime(old) {}
        return isLimited
    }

    /// Sets no limit any more.
    public func clearExecutionTimeLimit() { qc_js_clear_time_limit(group) }

    /// What the machine needs to know of Swift objects; made when first needed.
    func objectSupport() -> ObjectSupport {
        support.withLock { support in
            if let support { return support }
            let new = ObjectSupport(group)
            support = new
            return new
        }
    }
}

/// What decides about the end of a script, as the library keeps it.
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

/// Swift objects that JavaScript has let go. A finalizer runs in the middle of a collection, where nothing of the
/// machine may be touched; the last reference to a Swift object may hold values of it. So they are dropped later.
final class Graveyard: Sendable {
    private let dead = Mutex<[any AnyObject & Sendable]>([])
    private let isEmpty = Atomic(true)

    func bury(_ object: any AnyObject & Sendable) {
        dead.withLock { $0.append(object) }
        isEmpty.store(false, ordering: .releasing)
    }

    func empty() {
        guard !isEmpty.load(ordering: .acquiring) else { return }
        isEmpty.store(true, ordering: .relaxed)
        // Dropped outside the lock: a deinit may call the machine, which may collect and bury.
        let objects = dead.withLock { dead in
            defer { dead = [] }
            return dead
        }
        withExtendedLifetime(objects) {}
    }
}
