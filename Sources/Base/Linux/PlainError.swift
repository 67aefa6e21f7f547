/// Why something cannot be done, or be read: a sentence for people. For errors of which nobody needs more.
package struct PlainError: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
