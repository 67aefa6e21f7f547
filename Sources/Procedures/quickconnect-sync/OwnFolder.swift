import Configuration
import Glibc
import Linux

/// The folder of what is fetched.
enum OwnFolder {
    /// Creates it if it is missing. Root gives it to the user of the service, and becomes that user permanently; a
    /// service manager that names the folder has already chosen the user.
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
}
