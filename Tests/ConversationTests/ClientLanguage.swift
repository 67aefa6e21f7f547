import Foundation
import TestRig

/// A language that `clients/` has a client for. Its test programs lie in `Tests/Clients`.
enum ClientLanguage: String, CaseIterable, Sendable {
    case python
    case node

    private var interpreter: String { self == .python ? "python3" : "node" }
    private var ending: String { self == .python ? "py" : "js" }
    var isInstalled: Bool { ChildProcess.isInstalled(interpreter) }
    static var installed: [ClientLanguage] { allCases.filter(\.isInstalled) }

    /// Starts `driver` or `scenarios` of this language.
    func start(
        _ program: String,
        _ arguments: String...,
        socket: String?,
        environment: [String: String] = [:],
        input: String = "/dev/null"
    ) throws -> ChildProcess {
        try run("Tests/Clients/\(program).\(ending)", arguments, socket, environment, input)
    }

    /// Starts a program of `Examples/`.
    func start(example: String, socket: String) throws -> ChildProcess {
        let library = ["PYTHONPATH": "\(Products.root)/clients/python", "PYTHONDONTWRITEBYTECODE": "1"]
        return try run("Examples/\(rawValue)/\(example).\(ending)", [], socket, library, "/dev/null")
    }

    private func run(
        _ file: String,
        _ arguments: [String],
        _ socket: String?,
        _ environment: [String: String],
        _ input: String
    ) throws -> ChildProcess {
        var variables = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        if let home = ProcessInfo.processInfo.environment["HOME"] { variables["HOME"] = home }
        variables["QUICKCONNECT_SOCKET"] = socket
        variables.merge(environment) { _, last in last }
        return try ChildProcess(
            interpreter,
            ["\(Products.root)/\(file)"] + arguments,
            environment: variables,
            input: input
        )
    }
}

extension ChildProcess {
    var outputLines: [String] {
        String(decoding: standardOutput, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Waits until it has written that line.
    func awaitLine(_ line: String) async throws {
        try await eventually("«\(line)» in \(outputLines), \(String(decoding: standardError, as: UTF8.self))") {
            outputLines.contains(line)
        }
    }
}
