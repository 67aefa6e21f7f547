internal import Glibc

/// A lock between processes that change the same file.
package enum FileLock {
    /// Waits until nobody else holds it.
    /// - Parameters:
    ///   - path: the path of the lock file, which is created if missing, and stays.
    ///   - waits: if not, it throws `EWOULDBLOCK` where somebody else holds it.
    /// - Returns: a descriptor. Closing it releases the lock.
    package static func take(_ path: String, waits: Bool = true) throws(SystemCallError) -> Int32 {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let descriptor = try SystemCallError.check("open") { open(path, flags, 0o600) }
        do throws(SystemCallError) {
            try SystemCallError.check("flock") { flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }
}
