/// Why a set of procedures is not taken, in words for people.
package struct SetRefusal: Error, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether it is this device's fault, such as a full disk, and the same set may do the next time.
    package let isPassing: Bool

    package init(_ description: String, isPassing: Bool = false) {
        (self.description, self.isPassing) = (description, isPassing)
    }
}
