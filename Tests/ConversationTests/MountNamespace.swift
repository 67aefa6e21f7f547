import Foundation

/// A program of a test may see other file systems than this process does, where this machine lets the user have that.
enum MountNamespace {
    /// What stands before a program's words.
    static let words = ["unshare"] + (geteuid() == 0 ? ["-m"] : ["-rm"])

    /// Whether a program runs to a good end, such as one that mounts what it needs.
    static func isPossible(_ command: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
