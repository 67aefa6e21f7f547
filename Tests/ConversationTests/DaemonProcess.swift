import Foundation
import TestRig
import Testing

/// The built daemon as a process of its own, on private paths.
final class DaemonProcess: Sendable {
    let folder: TestFolder
    let process: ChildProcess
    var socket: String { folder("socket") }
    private let results: DeclaredResults

    /// - Parameters:
    ///   - flags: besides those that keep it private.
    ///   - settings: the text of its settings file.
    ///   - mappings: the folder of mappings; nil takes the shipped ones.
    init(
        _ flags: [String] = ["--simulate"],
        settings: String = "{}",
        mappings: String? = nil,
        environment: [String: String] = [:]
    ) async throws {
        folder = try TestFolder()
        try settings.write(toFile: folder("settings.yaml"), atomically: true, encoding: .utf8)
        results = mappings.map(DeclaredResults.init) ?? .shipped
        let arguments = [
            "--config", folder("settings.yaml"), "--socket", folder("socket"), "--media", folder("media"),
            "--sounds", Products.root + "/sounds", "--mappings", mappings ?? Products.root + "/mappings",
        ]
        var variables = ["PATH": "/usr/bin:/bin", "HOME": folder("home")]
        variables.merge(environment) { _, last in last }
        process = try ChildProcess(Products.path("quickconnectd"), arguments + flags, environment: variables)
        try await eventually("the daemon listens") { [process, folder] in
            if process.poll() != nil { throw NotInTime(description: "the daemon ended: \(log)") }
            return (try? SocketClient(path: folder("socket"))) != nil
        }
    }

    var log: String { String(decoding: process.standardError, as: UTF8.self) }

    func connect() throws -> SocketClient { try SocketClient(path: socket, answers: AnswerCheck(results)) }

    /// Ends it as systemd does.
    func stop() async throws -> ChildProcess.Exit {
        process.send(SIGTERM)
        return try await process.wait()
    }

    /// Runs the client against it.
    func client(_ arguments: String...) async throws -> (exit: ChildProcess.Exit, output: String) {
        try await client(arguments)
    }

    func client(_ arguments: [String]) async throws -> (exit: ChildProcess.Exit, output: String) {
        try await ChildProcess.run(Products.path("quickconnect"), arguments, environment: ofClients)
    }

    func startClient(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(Products.path("quickconnect"), arguments, environment: ofClients)
    }

    /// The environment of its clients.
    private var ofClients: [String: String] { ["PATH": "/usr/bin:/bin", "QUICKCONNECT_SOCKET": socket] }
}

/// What was built beside the tests, and the sources.
enum Products {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// A program beside the test bundle, or of the folder that `QUICKCONNECT_PROGRAMS` names.
    static func path(_ program: String) -> String {
        if let folder = ProcessInfo.processInfo.environment["QUICKCONNECT_PROGRAMS"] { return "\(folder)/\(program)" }
        let folder = CommandLine.arguments.compactMap { argument -> String? in
            guard let end = argument.range(of: "/", options: .backwards) else { return nil }
            let folder = String(argument[..<end.lowerBound])
            return access("\(folder)/\(program)", X_OK) == 0 ? folder : nil
        }.first
        return "\(folder ?? root + "/.build/debug")/\(program)"
    }

    /// Whether the programs were built to be shipped: others take several times as long for each call.
    static var areReleased: Bool { ProcessInfo.processInfo.environment["QUICKCONNECT_PROGRAMS"] != nil }

    /// Whether another user can start the programs: a checkout may lie in a folder that only its owner enters.
    static let areForOthers: Bool = {
        guard OtherUser.isPossible else { return true }
        let program = path("quickconnect")
        let file = (try? OtherUser.act(as: OtherUser.stranger) { open(program, O_RDONLY | O_CLOEXEC) }) ?? -1
        defer { close(file) }
        return file >= 0
    }()
    static let othersNote: Comment = "another user cannot enter the folder of the programs"

    /// Copies a program to `bin` in a folder. It looks for other programs beside itself, and for Swift's library, where it
    /// shares one, in the folder `lib` beside `bin`.
    static func copy(_ program: String, to folder: TestFolder) throws {
        let files = FileManager.default
        try files.createDirectory(atPath: folder("bin"), withIntermediateDirectories: true)
        try files.copyItem(atPath: path(program), toPath: folder("bin/\(program)"))
        let built = URL(fileURLWithPath: path(program)).resolvingSymlinksInPath().deletingLastPathComponent()
        let libraries = built.deletingLastPathComponent().path + "/lib"
        try files.createSymbolicLink(atPath: folder("lib"), withDestinationPath: libraries)
    }
}
