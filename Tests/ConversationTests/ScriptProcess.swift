import Foundation
import JSON
import QuickConnect
import TestRig

/// A script's file and its process, or the folder of scripts and its host.
final class ScriptProcess: Sendable {
    let folder: TestFolder
    let process: ChildProcess

    /// Runs a script in the foreground, as a user does.
    static func run(
        _ text: String,
        _ arguments: String...,
        name: String = "bell.js",
        daemon: DaemonProcess?,
        settings: String = "{}",
        files: [String: String] = [:]
    ) throws -> ScriptProcess {
        let folder = try TestFolder()
        try folder.write(text, to: name)
        for (name, text) in files {
            try FileManager.default.createDirectory(
                atPath: (folder(name) as NSString).deletingLastPathComponent,
                withIntermediateDirectories: true
            )
            try folder.write(text, to: name)
        }
        try folder.write(settings, to: "settings.yaml")
        let words = ["run", "--config", folder("settings.yaml"), folder(name)] + arguments
        return try ScriptProcess(Products.path("quickconnect"), words, folder, daemon?.socket ?? folder("nowhere"))
    }

    /// Starts the host of a folder of scripts.
    static func host(
        _ scripts: [String: String],
        macros: [String: String] = [:],
        daemon: DaemonProcess,
        settings: String = "{}",
        disk: Disk? = nil,
        environment: [String: String] = [:]
    ) throws -> ScriptProcess {
        let folder = try TestFolder()
        for name in ["scripts", "macros"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        for (name, text) in scripts { try folder.write(text, to: "scripts/\(name)") }
        for (name, text) in macros { try folder.write(text, to: "macros/\(name)") }
        try folder.write(settings, to: "settings.yaml")
        let words = ["--config", folder("settings.yaml"), "--scripts", folder("scripts"), "--macros", folder("macros")]
        let command = disk?.command(on: folder("state")) ?? []
        let all = command + [Products.path("quickconnect-scripts")] + words
        return try ScriptProcess(all[0], Array(all.dropFirst()), folder, daemon.socket, environment)
    }

    /// A disk for the state that is soon full.
    enum Disk: String, CaseIterable {
        /// A file system of 64 KiB.
        case small
        /// No file may have more than 8 KiB.
        case shortFiles

        /// What runs a program so.
        func command(on state: String) -> [String] {
            let script =
                switch self {
                case .small: "mkdir -p \"$0\" && mount -t tmpfs -o size=64k none \"$0\" && exec \"$@\""
                case .shortFiles: "trap '' XFSZ; exec prlimit --fsize=8192 \"$@\""
                }
            return (self == .small ? MountNamespace.words : []) + ["/bin/sh", "-c", script, state]
        }

        /// Whether this machine lets the user have such a disk.
        var isPossible: Bool { MountNamespace.isPossible(command(on: NSTemporaryDirectory()) + ["true"]) }

        static let possible = allCases.filter(\.isPossible)
    }

    /// Starts the service of procedures and data.
    static func procedures(
        _ procedures: [String: String],
        daemon: DaemonProcess,
        settings: String = "{}",
        folder: TestFolder? = nil,
        environment: [String: String] = [:]
    ) throws -> ScriptProcess {
        let folder = try folder ?? TestFolder()
        try FileManager.default.createDirectory(atPath: folder("procedures/lib"), withIntermediateDirectories: true)
        for (name, text) in procedures { try folder.write(text, to: "procedures/\(name).js") }
        try folder.write(settings, to: "settings.yaml")
        let words = ["--procedures", "--config", folder("settings.yaml"), "--procedure-folder", folder("procedures")]
        return try ScriptProcess(Products.path("quickconnect-scripts"), words, folder, daemon.socket, environment)
    }

    init(
        _ program: String,
        _ words: [String],
        _ folder: TestFolder,
        _ socket: String,
        _ environment: [String: String] = [:]
    ) throws {
        self.folder = folder
        process = try ChildProcess(
            program,
            words,
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": folder("home"), "STATE_DIRECTORY": folder("state"),
                "QUICKCONNECT_SOCKET": socket,
            ].merging(environment) { $1 }
        )
    }

    var output: String { String(decoding: process.standardOutput, as: UTF8.self) }
    var errors: String { String(decoding: process.standardError, as: UTF8.self) }
    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// Waits for its end.
    func end() async throws -> ChildProcess.Exit { try await process.wait() }

    /// Waits until it has written that.
    func awaitOutput(_ text: String) async throws {
        try await eventually("\(text) in «\(output)», «\(errors)»") { output.contains(text) }
    }

    func awaitErrors(_ text: String) async throws {
        try await eventually("«\(text)» in the errors") { errors.contains(text) }
    }

    /// Changes a script of the folder as an editor does: whole, under its name.
    func put(_ text: String, as name: String) throws {
        try folder.write(text, to: "scripts/.\(name).new")
        rename(folder("scripts/.\(name).new"), folder("scripts/\(name)"))
    }
}

extension TestFolder {
    /// Mappings of a test, after those that are shipped.
    /// - Parameter shipped: the names of their files; nil takes all.
    static func mappings(_ text: String, after shipped: [String]? = nil) throws -> TestFolder {
        let folder = try TestFolder()
        for name in try shipped ?? FileManager.default.contentsOfDirectory(atPath: Products.root + "/mappings") {
            try FileManager.default.copyItem(atPath: "\(Products.root)/mappings/\(name)", toPath: folder(name))
        }
        try folder.write(text, to: "zz-test.yaml")
        return folder
    }
}

extension SocketClient {
    /// What the host tells of a script; empty where there is no host yet.
    func script(_ name: String) async throws -> JSONObject {
        let id = "s\(Int.random(in: 0...Int.max))"
        send("call?cmd=scripts&id=\(id)")
        var answer: JSONObject = [:]
        while let reply = try await nextReply() {
            guard reply.id == id else { continue }
            answer = reply.value.objectValue ?? [:]
            break
        }
        let scripts = (answer["scripts"]?.arrayValue ?? []).compactMap(\.objectValue)
        return scripts.first { $0["name"]?.stringValue == name } ?? [:]
    }

    /// Waits until a script is in that state.
    func awaitScript(_ name: String, _ state: String) async throws {
        try await eventually("\(name) is \(state)") {
            try await script(name)["state"]?.stringValue == state
        }
    }
}
