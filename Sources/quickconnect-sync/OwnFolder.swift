import Configuration
import Glibc
import Linux

/// The folder of what is fetched.
enum OwnFolder {
    /// Makes it where it is missing. Who is root gives it to the user of the service, and becomes that user for good; a
    /// service manager that names the folder has chosen the user, too.
    static func prepare(_ root: String, isNamed: Bool) throws(SystemCallError) {
        try Folders.make(root)
        guard geteuid() == 0, !isNamed else { return }
        guard let account = getpwnam(ProcedureSettings.syncUser)?.pointee else {
            throw SystemCallError("there is no user \(ProcedureSettings.syncUser); systemd-sysusers makes it", ENOENT)
        }
        try SystemCallError.check("chown") { chown(root, account.pw_uid, account.pw_gid) }
        try SystemCallError.check("setgroups") { setgroups(0, nil) }
        try SystemCallError.check("setgid") { setgid(account.pw_gid) }
        try SystemCallError.check("setuid") { setuid(account.pw_uid) }
    }

    /// Waits until nobody else fetches.
    /// - Returns: what holds the others off while it is open.
    static func lock(_ root: String) throws(SystemCallError) -> Int32 {
        try FileLock.take("\(root)/lock")
    }
}
