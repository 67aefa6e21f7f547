internal import CTestRig
internal import Glibc

/// A user that is neither root nor the daemon's: who connects as this one is a stranger.
public enum OtherUser {
    /// `nobody` of Debian; needs no account.
    public static let stranger: UInt32 = 65_534

    /// Only root can act as somebody else.
    public static var isPossible: Bool { geteuid() == 0 }

    /// Runs `body`, which must not wait for another thread, as that user. The process stays what it is.
    public static func act<Value>(as user: UInt32, _ body: () throws -> Value) throws -> Value {
        let code = qct_become(user)
        defer { _ = qct_become_root() }
        guard code == 0 else {
            throw NotInTime(description: "cannot act as \(user): \(String(cString: strerror(code)))")
        }
        return try body()
    }
}
