/// Why a set of procedures is not taken, in words for people.
public struct SetRefusal: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}
