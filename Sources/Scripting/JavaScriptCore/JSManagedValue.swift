internal import CJavaScriptCore

/// A JavaScript value that is held weakly, or as long as JavaScript can reach its owner.
///
/// A Swift object that is exported to JavaScript and keeps a ``JSValue`` which in turn reaches that object is a cycle
/// that nobody frees. With a managed value in its place, and ``JSVirtualMachine/addManagedReference(_:withOwner:)``,
/// the value lives as long as JavaScript can reach it or the owner, and both are freed together when JavaScript can
/// reach neither.
public final class JSManagedValue: @unchecked Sendable {
    // Sendable because it is immutable, and the library takes the machine's lock in each of its functions.
    private let context: JSContext
    /// A `WeakRef`, for a value on the heap that can be referenced weakly.
    private let reference: OpaquePointer?
    private let primitive: JSValue?

    /// Holds a value weakly. A value that is not an object is held normally. Nil if the value is nil.
    public init!(value: JSValue!) {
        guard let value else { return nil }
        context = value.home
        let isWeak = value.isObject
        primitive = isWeak ? nil : value
        reference = isWeak ? value.home.machine.objectSupport().makeWeak(value.ref) : nil
    }

    /// Holds a value as long as JavaScript can reach it or `owner`, an exported Swift object. Holds it weakly if the
    /// owner is nil or not exported. Nil if the value is nil.
    public convenience init!(value: JSValue!, andOwner owner: Any!) {
        self.init(value: value)
        context.machine.addManagedReference(self, withOwner: owner)
    }

    deinit { if let reference { context.machine.objectSupport().release(reference) } }

    /// The value; nil if it has been collected, which may happen at any call into the machine.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var value: JSValue! {
        if let primitive { return primitive }
        return context.machine.objectSupport().target(of: reference).map { JSValue($0, in: context) }
    }

    func keep(withOwner owner: any JSExport, in machine: JSVirtualMachine) {
        guard machine === context.machine, primitive == nil, let value else { return }
        machine.objectSupport().keep(value.ref, as: context.wrap(owner))
    }

    func release(fromOwner owner: any JSExport, in machine: JSVirtualMachine) {
        guard machine === context.machine, primitive == nil, let value else { return }
        machine.objectSupport().drop(value.ref, of: context.wrap(owner))
    }
}
