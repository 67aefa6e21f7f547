internal import CJavaScriptCore
internal import Synchronization

/// How the library encodes values in references: JSC's JSVALUE64, which is private to it.
///
/// Numbers, booleans, null and undefined are in the reference itself; all else lives on the heap, and must be protected from
/// the garbage collector. Seeing that in the bits is faster than asking the library, and protecting a value is its slowest call.
/// A library with another encoding is found out at the first use; each value is protected then, which the public API allows.
package enum ValueEncoding {
    /// Numbers have a bit of the upper 15 set; null, undefined and booleans have bit 1.
    package static let mask: UInt = 0xfffe_0000_0000_0002

    private enum State: UInt8, AtomicRepresentable {
        case untested, known, unknown
    }

    private static let state = Atomic(State.untested)

    /// Whether a value may live on the heap.
    static func mayBeCell(_ ref: OpaquePointer?, in context: OpaquePointer?) -> Bool {
        switch state.load(ordering: .relaxed) {
        case .known: return UInt(bitPattern: ref) & mask == 0
        case .unknown: return true
        case .untested:
            state.store(isKnown(mask, in: context) ? .known : .unknown, ordering: .relaxed)
            return mayBeCell(ref, in: context)
        }
    }

    /// For a test: makes this process take the safe way, or test the library again.
    package static func distrust(_ isDistrusted: Bool) {
        state.store(isDistrusted ? .unknown : .untested, ordering: .relaxed)
    }

    /// Whether no value that lives on the heap has a bit of the mask, and each of the others has one.
    static func isKnown(_ mask: UInt, in context: OpaquePointer?) -> Bool {
        guard MemoryLayout<UInt>.size == 8 else { return false }
        let numbers: [Double] = [0, 1, -1, 0.5, -0.5, 2_147_483_648, -2_147_483_649, 1e300, -1e-300, .infinity, .nan]
        let others =
            numbers.map { JSValueMakeNumber(context, $0) }
            + [
                JSValueMakeUndefined(context), JSValueMakeNull(context), JSValueMakeBoolean(context, true),
                JSValueMakeBoolean(context, false),
            ]
        let texts = ["", "a", "text", "ü", String(repeating: "long ", count: 100)].map { text in
            Text.with(text) { JSValueMakeString(context, $0) }
        }
        let cells =
            texts + [
                JSContextGetGlobalObject(context), JSObjectMake(context, nil, nil),
                JSObjectMakeArray(context, 0, nil, nil), JSObjectMakeDate(context, 0, nil, nil),
                Text.with("s") { JSValueMakeSymbol(context, $0) },
            ]
        return others.allSatisfy { UInt(bitPattern: $0) & mask != 0 }
            && cells.allSatisfy { $0 != nil && UInt(bitPattern: $0) & mask == 0 }
    }
}

extension JSContext {
    /// For a test: whether the library encodes values so that this mask tells those that live on the heap.
    package func hasEncoding(_ mask: UInt) -> Bool { ValueEncoding.isKnown(mask, in: ref) }
}
