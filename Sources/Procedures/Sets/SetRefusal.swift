/// Why a set of procedures is not taken, in words for people.
package struct SetRefusal: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
