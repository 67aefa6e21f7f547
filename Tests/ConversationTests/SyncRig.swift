import Digests
import Foundation
import JSON
import TestRig

/// A server of procedures that may misbehave, and the program that fetches from it.
final class SyncRig: Sendable {
    let folder: TestFolder
    let address: String
    private let server: ChildProcess

    init(certificate: String? = nil) async throws {
        folder = try TestFolder()
        try FileManager.default.createDirectory(atPath: folder("uploads/lib"), withIntermediateDirectories: true)
        server = try ChildProcess(
            "python3",
            [Products.root + "/Tests/ProcedureServer/misbehave.py", folder.path] + (certificate.map { [$0] } ?? []),
            environment: ["PATH": "/usr/bin:/bin"]
        )
        address = try await Self.address(of: server)
        try settings("sync: \"\(address)\"")
    }

    static func address(of server: ChildProcess) async throws -> String {
        var line = ""
        try await eventually("it listens: \(String(decoding: server.standardError, as: UTF8.self))") {
            line = String(decoding: server.standardOutput, as: UTF8.self)
            return line.hasSuffix("\n")
        }
        return String(line.dropLast())
    }

    /// The settings of `procedures`, apart from those that a test does not care for.
    func settings(_ procedures: String) throws {
        try folder.write("procedures: {\(procedures)}", to: "settings.yaml")
    }

    func stop() { server.send(SIGKILL) }

    /// What the server has, with its manifest.
    func serve(_ files: [String: String], version: Int = 1, hashes: [String: String] = [:]) throws {
        for (name, text) in files where !name.contains("..") { try folder.write(text, to: "uploads/\(name)") }
        let all = files.mapValues { SHA256.text(of: $0) }.merging(hashes) { $1 }
        let members = JSONObject(all.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) })
        let manifest: JSONValue = ["version": .integer(Int64(version)), "files": .object(members)]
        try folder.write(manifest.text, to: "uploads/manifest.json")
    }

    func misbehave(_ modes: [String: String]) throws {
        let members = JSONObject(modes.map { ($0.key, JSONValue.string($0.value)) })
        try folder.write(JSONValue.object(members).text, to: "modes.json")
    }

    var environment: [String: String] {
        ["PATH": "/usr/bin:/bin", "HOME": folder("home"), "STATE_DIRECTORY": folder("state")]
    }

    /// Seconds without a byte. They are few where the server may be silent on purpose, and else too many for a busy machine.
    private var patience: String { folder.exists("modes.json") ? "2" : "60" }

    func start(_ words: String..., environment more: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(
            Products.path("quickconnect-sync"),
            ["--config", folder("settings.yaml"), "--patience", patience] + words,
            environment: environment.merging(more) { $1 }
        )
    }

    /// Fetches once.
    /// - Parameter authority: what the device believes in place of its own authorities.
    func sync(
        _ words: [String] = [],
        knowing authority: PrivateAuthority? = nil,
        environment more: [String: String] = [:]
    ) async throws -> (exit: ChildProcess.Exit, text: String) {
        let command = [
            Products.path("quickconnect-sync"), "--config", folder("settings.yaml"), "--patience", patience,
        ]
        let all = (authority?.prefix ?? []) + command + words
        let child = try ChildProcess(
            all[0],
            Array(all.dropFirst()),
            environment: environment.merging(more) { $1 }
        )
        let exit = try await child.wait()
        return (exit, String(decoding: child.standardOutput + child.standardError, as: UTF8.self))
    }

    /// The texts of the set that counts, by their names; those of JavaScript alone.
    func staged(in set: String = "quickconnect-sync/staged") -> [String: String] {
        var texts: [String: String] = [:]
        for part in ["", "lib/"] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder("\(set)/\(part)"))) ?? []
            for name in names where name.hasSuffix(".js") {
                texts[part + name] = try? String(contentsOfFile: folder("\(set)/\(part)\(name)"), encoding: .utf8)
            }
        }
        return texts
    }

    /// Paths, marks and tokens of the requests since the last time.
    func requests() throws -> [String] {
        defer { try? folder.remove("requests") }
        guard folder.exists("requests") else { return [] }
        return String(decoding: try folder.data("requests"), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
