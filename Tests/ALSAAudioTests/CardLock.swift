import Foundation

/// The lock file of a virtual card: whoever has the card open holds it.
enum CardLock {
    static func isFree(_ path: String) -> Bool {
        guard let holder = Holder(path) else { return false }
        return holder.descriptor >= 0
    }

    /// Holds the card, as another program would.
    final class Holder {
        let descriptor: Int32

        /// - Returns: `nil` if somebody else holds it.
        init?(_ path: String) {
            descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0 { return nil }
        }

        deinit { close(descriptor) }
    }
}
