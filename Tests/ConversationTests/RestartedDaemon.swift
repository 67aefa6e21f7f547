import Foundation
import TestRig

/// A daemon that a test kills, freezes and starts again on the same socket.
final class RestartedDaemon {
    let folder: TestFolder
    private(set) var process: ChildProcess
    var socket: String { folder("socket") }

    init() async throws {
        folder = try TestFolder()
        process = try Self.start(folder)
        try await awaitReady()
    }

    private static func start(_ folder: TestFolder) throws -> ChildProcess {
        try ChildProcess(
            Products.path("quickconnectd"),
            [
                "--simulate", "--socket", folder("socket"), "--media", folder("media"), "--sounds",
                Products.root + "/sounds", "--mappings", Products.root + "/mappings",
            ],
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder("home")]
        )
    }

    private func awaitReady() async throws {
        try await eventually("the daemon listens") { (try? SocketTalker(path: socket)) != nil }
    }

    /// Leaves its socket's file behind.
    func kill() async throws {
        process.send(SIGKILL)
        try await process.wait()
    }

    func start() async throws {
        process = try Self.start(folder)
        try await awaitReady()
    }

    func freeze() { process.send(SIGSTOP) }
    func thaw() { process.send(SIGCONT) }

    func talker() throws -> SocketTalker { try SocketTalker(path: socket) }
}
