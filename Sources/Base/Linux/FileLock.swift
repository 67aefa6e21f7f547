internal import Glibc

/// A lock between processes that change the same file.
package enum FileLock {
    /// Waits until nobody else holds it.
    /// - Parameter path: the path of the lock file, which is created if missing, and stays.
    /// - Returns: a descriptor. Closing it releases the lock.
    package static func take(_ path: String) throws(SystemCallError) -> Int32 {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let descriptor = try SystemCallError.check("open") { open(path, flags, 0o600) }
        do throws(SystemCallError) {
            try SystemCallError.check("flock") { flock(descriptor, LOCK_EX) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }
}
