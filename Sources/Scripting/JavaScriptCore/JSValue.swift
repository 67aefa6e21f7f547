internal import CJavaScriptCore
internal import Synchronization

/// A JavaScript value. It is not collected as long as this object lives.
///
/// It keeps its context alive, too. If an exported Swift function or object keeps a value, that is a reference cycle
/// that nothing frees: use ``JSContext/current()`` and ``JSContext/currentArguments()`` instead, or keep a
/// ``JSManagedValue``.
public final class JSValue: @unchecked Sendable {
    // Sendable because it is immutable, and the library takes the machine's lock in each of its functions.
    let ref: OpaquePointer?
    let home: JSContext
    private let isProtected: Bool
    /// 0: not known yet; 1: an object; 2: not an object.
    private let objectness = Atomic<UInt8>(0)

    /// The context that it was made in. Never nil.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var context: JSContext! { home }

    init(_ ref: OpaquePointer?, in context: JSContext) {
        self.ref = ref ?? JSValueMakeUndefined(context.ref)
        home = context
        isProtected = ValueEncoding.mayBeCell(self.ref, in: context.ref)
        if isProtected { JSValueProtect(context.ref, self.ref) }
    }

    deinit {
        if isProtected { JSValueUnprotect(home.ref, ref) }
    }

    // MARK: What it is

    /// Whether it is `undefined`.
    public var isUndefined: Bool { JSValueIsUndefined(home.ref, ref) }
    /// Whether it is `null`.
    public var isNull: Bool { JSValueIsNull(home.ref, ref) }
    /// Whether it is `true` or `false`; a `Boolean` object is not.
    public var isBoolean: Bool { JSValueIsBoolean(home.ref, ref) }
    /// Whether it is a number, NaN and the infinities included; a `Number` object and a `BigInt` are not.
    public var isNumber: Bool { JSValueIsNumber(home.ref, ref) }
    /// Whether it is a string; a `String` object is not.
    public var isString: Bool { JSValueIsString(home.ref, ref) }
    /// Whether it is an object. Arrays, functions and dates are objects.
    public var isObject: Bool {
        // Needed at each call, so it is cached; it never changes.
        switch objectness.load(ordering: .relaxed) {
        case 1: return true
        case 2: return false
        default:
            let isObject = isProtected && JSValueIsObject(home.ref, ref)
            objectness.store(isObject ? 1 : 2, ordering: .relaxed)
            return isObject
        }
    }
    /// Whether it is an `Array`, even of another context; a typed array and a proxy of an array are not.
    public var isArray: Bool { JSValueIsArray(home.ref, ref) }
    /// Whether it is a `Date`, even an invalid one.
    public var isDate: Bool { JSValueIsDate(home.ref, ref) }
    /// Whether it is a `Symbol`. It cannot be converted to text or a number, and may be the name of a property.
    public var isSymbol: Bool { JSValueIsSymbol(home.ref, ref) }
    /// Whether it is a `BigInt`. Its text has all digits; ``toDouble()`` gives the nearest number.
    public var isBigInt: Bool { JSValueIsBigInt(home.ref, ref) }
    /// Whether it is an object that can be called.
    public var isFunction: Bool { isObject && JSObjectIsFunction(home.ref, ref) }

    /// Whether `value instanceof other`. False if `other` belongs to another machine or is not a constructor, and if
    /// that throws.
    public func isInstance(of other: Any!) -> Bool {
        guard let other = try? home.convert(other), JSValueIsObject(home.ref, other) else { return false }
        return JSValueIsInstanceOfConstructor(home.ref, ref, other, nil)
    }

    /// Whether `value === other`. False if `other` belongs to another machine.
    public func isEqual(to other: Any!) -> Bool {
        guard let other = try? home.convert(other) else { return false }
        return JSValueIsStrictEqual(home.ref, ref, other)
    }

    /// Whether `value == other`. False if `other` belongs to another machine, and if that throws.
    public func isEqualWithTypeCoercion(to other: Any!) -> Bool {
        guard let other = try? home.convert(other) else { return false }
        return JSValueIsEqual(home.ref, ref, other, nil)
    }
}

extension JSValue: CustomStringConvertible {
    /// As `String(value)` gives it; `a value without a text` if it has none, like a symbol.
    public var description: String { text ?? "a value without a text" }
}
