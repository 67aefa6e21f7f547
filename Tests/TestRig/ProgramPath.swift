internal import Foundation

/// Programs of this machine, and those that `scripts/unpack-program` has unpacked for this checkout, since installing them
/// would start a service or remove another sound server.
enum ProgramPath {
    /// The folders of programs, in order. Daemons lie where an ordinary user's `PATH` does not look.
    private static let folders: [String] = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        return path.split(separator: ":").map(String.init) + [
            "/usr/local/sbin", "/usr/sbin", "\(checkout)/.build-rig/bin",
        ]
    }()

    /// The path of a program of that name.
    static func find(_ name: String) -> String? {
        folders.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
