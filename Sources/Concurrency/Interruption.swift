/// Why something that was awaited, or a job of a thread, came to nothing.
public struct Interruption: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// Nobody waits for it any more, or what would do it is being closed.
        case cancelled
        /// It was not there in time.
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

/// An error that an ``Interruption`` can become, so that whoever waits sees one kind of error.
public protocol InterruptionConvertible: Error {
    init(_ interruption: Interruption)
}

extension Interruption: InterruptionConvertible {
    public init(_ interruption: Interruption) { self = interruption }
}
