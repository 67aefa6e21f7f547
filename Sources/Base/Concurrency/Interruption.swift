/// Why a wait or a thread's job failed.
public struct Interruption: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// Nobody waits for it any more, or its thread is being closed.
        case cancelled
        /// It did not come in time.
        case timedOut
        /// It cannot be done now.
        case unavailable
        /// A mistake of the program: a promise was awaited twice.
        case misused
    }

    public var kind: Kind
    /// A sentence for people.
    public var description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

/// An error that can be made from an ``Interruption``, so that waiting code handles one error type.
public protocol InterruptionConvertible: Error {
    init(_ interruption: Interruption)
}

extension Interruption: InterruptionConvertible {
    public init(_ interruption: Interruption) { self = interruption }
}
