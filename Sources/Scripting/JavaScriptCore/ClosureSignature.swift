/// What Swift's runtime knows about the type of a closure.
///
/// No function of the runtime returns it, so this reads the type metadata directly. The words of a function type's
/// metadata are its kind, its flags including the number of parameters, its result, and its parameters.
package struct ClosureSignature {
    let parameters: [Any.Type]
    let result: Any.Type

    private typealias Words = UnsafePointer<UInt>

    /// The bits of the flags.
    private enum Flags {
        static let count: UInt = 0xffff
        static let convention: UInt = 0x00ff_0000
        static let block: UInt = 0x0001_0000
        static let throwing: UInt = 0x0100_0000
        static let escaping: UInt = 0x0400_0000
        static let sendable: UInt = 0x4000_0000
        static let plain = count | throwing | escaping | sendable
    }

    /// Nil for a closure that needs another way of calling: one that is asynchronous, isolated to an actor, has the C
    /// convention, typed throws, or parameters that are `inout`, owned or variadic.
    init?(of type: Any.Type) {
        let words = Self.words(type)
        guard Self.isKnown, words[1] & ~Flags.plain == 0 else { return nil }
        parameters = (0..<Int(words[1] & Flags.count)).map { unsafeBitCast(words[3 + $0], to: Any.Type.self) }
        result = unsafeBitCast(words[2], to: Any.Type.self)
    }

    /// Whether it is the type of a `@convention(block)` closure. Such a closure can be called, but putting it into an
    /// `Any` crashes the process.
    package static func isBlock(_ type: Any.Type) -> Bool {
        isKnown && isFunction(type) && words(type)[1] & Flags.convention == Flags.block
    }

    static func isFunction(_ type: Any.Type) -> Bool { words(type)[0] == 0x302 }

    private static func words(_ type: Any.Type) -> Words { unsafeBitCast(type, to: Words.self) }

    /// Whether the present runtime has this metadata layout.
    private static let isKnown: Bool = {
        let type: Any.Type = ((Int, String) throws -> Bool).self
        let words = Self.words(type)
        let address = { (type: Any.Type) in unsafeBitCast(type, to: UInt.self) }
        return isFunction(type) && words[1] == Flags.escaping | Flags.throwing | 2
            && words[2] == address(Bool.self) && words[3] == address(Int.self) && words[4] == address(String.self)
    }()
}
