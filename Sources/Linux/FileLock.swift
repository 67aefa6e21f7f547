internal import Glibc

/// A lock between processes that change the same file.
public enum FileLock {
    /// Waits until nobody else has it.
    /// - Parameter path: of the lock itself, which is made where it is missing, and stays.
    /// - Returns: what holds the others off until it is closed.
    public static func take(_ path: String) throws(SystemCallError) -> Int32 {
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
