/// What Swift's runtime knows of the type of a closure.
///
/// No function of the runtime tells it, so this looks where the compiler puts it. The words of a function's type are
/// its kind, its flags with the number of its parameters, its result, and its parameters.
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

    /// Nil for the type of a closure that is not called as a plain one is: one that is asynchronous, of an actor, of
    /// C's convention, that says which error it throws, or with parameters that are `inout`, owned or variadic.
    init?(of type: Any.Type) {
        let words = Self.words(type)
        guard Self.isKnown, words[1] & ~Flags.plain == 0 else { return nil }
        parameters = (0..<Int(words[1] & Flags.count)).map { unsafeBitCast(words[3 + $0], to: Any.Type.self) }
        result = unsafeBitCast(words[2], to: Any.Type.self)
    }

    /// Whether it is the type of a `@convention(block)` closure. Such a one may be called, but the process ends where it
    /// is put into an `Any`.
    package static func isBlock(_ type: Any.Type) -> Bool {
        isKnown && isFunction(type) && words(type)[1] & Flags.convention == Flags.block
    }

    static func isFunction(_ type: Any.Type) -> Bool { words(type)[0] == 0x302 }

    private static func words(_ type: Any.Type) -> Words { unsafeBitCast(type, to: Words.self) }

    /// Whether the runtime that is there does it in this way.
    private static let isKnown: Bool = {
        let type: Any.Type = ((Int, String) throws -> Bool).self
        let words = Self.words(type)
        let address = { (type: Any.Type) in unsafeBitCast(type, to: UInt.self) }
        return isFunction(type) && words[1] == Flags.escaping | Flags.throwing | 2
            && words[2] == address(Bool.self) && words[3] == address(Int.self) && words[4] == address(String.self)
    }()
}
