internal import CJavaScriptCore
internal import Synchronization

/// A machine's records of Swift objects: their wrappers, and the values that their owners keep alive.
///
/// They use JavaScript's standard `WeakRef` and `WeakMap`, in a context of their own, so that cycles through both
/// languages are collected.
final class ObjectSupport: @unchecked Sendable {
    // Sendable because the library takes the machine's lock in each of its functions, and `wrappers` is guarded.
    private let context: OpaquePointer?
    private let functions: [OpaquePointer]
    /// The `WeakRef` to the wrapper of each object. A wrapped object is alive, so its address is unique.
    private let wrappers = Mutex<[ObjectIdentifier: UInt]>([:])
    private let sweepMark = Atomic(256)

    private static let source = """
        (function () {
            const kept = new WeakMap()
            return [
                object => new WeakRef(object),
                reference => reference.deref(),
                (owner, value) => {
                    if (!kept.has(owner)) kept.set(owner, [])
                    kept.get(owner).push(value)
                },
                (owner, value) => {
                    const values = kept.get(owner) || []
                    const index = values.indexOf(value)
                    if (index >= 0) values.splice(index, 1)
                }
            ]
        })()
        """

    init(_ group: OpaquePointer) {
        let context = JSGlobalContextCreateInGroup(group, nil)
        self.context = context
        guard let context else {
            functions = []
            return
        }
        let array = Text.with(Self.source) { JSEvaluateScript(context, $0, nil, nil, 1, nil) }
        functions = (0..<4).compactMap { (index: UInt32) in
            let function = JSObjectGetPropertyAtIndex(context, array, index, nil)
            JSValueProtect(context, function)
            return function
        }
    }

    deinit { if let context { JSGlobalContextRelease(context) } }

    func makeWeak(_ object: OpaquePointer?) -> OpaquePointer? {
        let reference = call(0, [object])
        JSValueProtect(context, reference)
        return reference
    }

    func target(of reference: OpaquePointer?) -> OpaquePointer? {
        let target = call(1, [reference])
        return target == nil || JSValueIsUndefined(context, target) ? nil : target
    }

    func release(_ reference: OpaquePointer?) { JSValueUnprotect(context, reference) }

    func keep(_ value: OpaquePointer?, as long: OpaquePointer?) { _ = call(2, [long, value]) }

    func drop(_ value: OpaquePointer?, of owner: OpaquePointer?) { _ = call(3, [owner, value]) }

    private func call(_ index: Int, _ arguments: [OpaquePointer?]) -> OpaquePointer? {
        guard functions.indices.contains(index) else { return nil }
        return JSObjectCallAsFunction(context, functions[index], nil, arguments.count, arguments, nil)
    }

    /// The wrapper of an object; a new one if JavaScript holds none.
    func wrapper(of object: AnyObject, make: () -> OpaquePointer?) -> OpaquePointer? {
        let key = ObjectIdentifier(object)
        if let known = wrappers.withLock({ $0[key] }), let wrapper = target(of: OpaquePointer(bitPattern: known)),
            holds(wrapper, object)
        {
            return wrapper
        }
        guard let wrapper = make() else { return nil }
        let reference = UInt(bitPattern: makeWeak(wrapper))
        let old = wrappers.withLock { wrappers in
            defer { wrappers[key] = reference }
            return wrappers[key]
        }
        if let old { release(OpaquePointer(bitPattern: old)) }
        sweep()
        return wrapper
    }

    /// Whether the wrapper belongs to this object, and not to an earlier one at the same address.
    private func holds(_ wrapper: OpaquePointer, _ object: AnyObject) -> Bool {
        context.flatMap { ObjectBox.of(wrapper, in: $0) }?.object === object
    }

    /// Removes the entries of objects whose wrappers are gone, each time their number has doubled.
    private func sweep() {
        let all = wrappers.withLock { $0.count >= sweepMark.load(ordering: .relaxed) ? $0 : [:] }
        guard !all.isEmpty else { return }
        for (key, reference) in all where target(of: OpaquePointer(bitPattern: reference)) == nil {
            let isOld = wrappers.withLock { wrappers in
                guard wrappers[key] == reference else { return false }
                wrappers[key] = nil
                return true
            }
            if isOld { release(OpaquePointer(bitPattern: reference)) }
        }
        sweepMark.store(max(256, wrappers.withLock { $0.count } * 2), ordering: .relaxed)
    }
}
