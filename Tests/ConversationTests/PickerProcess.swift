import Foundation
import JSON
import TestRig

/// The built picker as a process of its own.
final class PickerProcess: Sendable {
    let process: ChildProcess

    /// Returns when it has registered its handlers.
    convenience init(_ socket: String, _ flags: String..., environment: [String: String] = [:]) async throws {
        try self.init(socket, flags, environment: environment)
        try await awaitReady(socket)
    }

    /// Returns at once.
    init(_ socket: String, _ flags: [String], environment: [String: String] = [:]) throws {
        let variables = ["PATH": "/usr/bin:/bin", "TZ": "UTC"].merging(environment) { _, last in last }
        process = try ChildProcess(
            Products.path("quickconnect-picker"),
            ["--socket", socket, "--log-level", "debug"] + flags,
            environment: variables
        )
    }

    func awaitReady(_ socket: String) async throws {
        try await eventually("the picker registers: \(log)") {
            if process.poll() != nil { throw NotInTime(description: "the picker ended: \(log)") }
            let client = try SocketClient(path: socket)
            let handlers = try await client.value("state", []).objectValue?["handlers"]?.text ?? ""
            return ["showDate", "showList"].allSatisfy(handlers.contains)
        }
    }

    var log: String { String(decoding: process.standardError, as: UTF8.self) }

    /// Ends it as systemd does.
    func stop() async throws -> ChildProcess.Exit {
        process.send(SIGTERM)
        return try await process.wait()
    }
}
