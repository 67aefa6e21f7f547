import Foundation
import TestRig

/// A program of a test may see other file systems than this process does, where this machine lets the user have that.
enum MountNamespace {
    /// What stands before a program's words.
    static let words = ["unshare"] + (geteuid() == 0 ? ["-m"] : ["-rm"])

    /// Whether a program runs to a good end, such as one that mounts what it needs.
    static func isPossible(_ command: [String]) -> Bool {
        guard let child = try? ChildProcess("/usr/bin/env", command) else { return false }
        var information = siginfo_t()
        waitid(P_PID, id_t(child.pid), &information, WEXITED | WNOWAIT)
        return child.poll() == .status(0)
    }
}
