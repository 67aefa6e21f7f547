/// Why a set of procedures is not taken, in words for people.
package struct SetRefusal: Error, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether the same set may do the next time: it is this device's fault, such as a full disk, or the server's files
    /// were being changed.
    package let isPassing: Bool
    /// Whether the server did not answer, so that there is no set.
    package let isUnreachable: Bool

    package init(_ description: String, isPassing: Bool = false, isUnreachable: Bool = false) {
        (self.description, self.isPassing, self.isUnreachable) = (description, isPassing, isUnreachable)
    }

    package static func unreachable(_ description: String) -> SetRefusal {
        SetRefusal(description, isPassing: true, isUnreachable: true)
    }
}
