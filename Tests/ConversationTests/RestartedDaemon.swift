import Foundation
import JSON
import TestRig

/// A daemon that a test kills, freezes and starts again on the same socket.
final class RestartedDaemon {
    let folder: TestFolder
    private let mappings: TestFolder
    private(set) var process: ChildProcess
    var socket: String { folder("socket") }

    /// It has a command `never`, which ``silent()`` never answers.
    init() async throws {
        folder = try TestFolder()
        mappings = try TestFolder.mappings("never: {business: [\"script:silent\"], timeout: 60s}")
        process = try Self.start(folder, mappings.path)
        try await awaitReady()
    }

    private static func start(_ folder: TestFolder, _ mappings: String) throws -> ChildProcess {
        try ChildProcess(
            Products.path("quickconnectd"),
            [
                "--simulate", "--socket", folder("socket"), "--media", folder("media"), "--sounds",
                Products.root + "/sounds", "--mappings", mappings,
            ],
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder("home")]
        )
    }

    private func awaitReady() async throws {
        try await eventually("the daemon listens") { (try? SocketClient(path: socket)) != nil }
    }

    /// Leaves its socket's file behind.
    func kill() async throws {
        process.send(SIGKILL)
        try await process.wait()
    }

    func start() async throws {
        process = try Self.start(folder, mappings.path)
        try await awaitReady()
    }

    /// A client that has the handler behind `never`, and is told of its calls.
    func silent() async throws -> SocketClient {
        let client = try connect()
        _ = try await client.value("registerHandler", ["silent"])
        return client
    }

    func freeze() { process.send(SIGSTOP) }
    func thaw() { process.send(SIGCONT) }

    func connect() throws -> SocketClient { try SocketClient(path: socket) }
}
