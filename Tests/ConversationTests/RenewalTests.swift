import Foundation
import JSON
import TestRig
import Testing

/// What the next daemon refuses for a moment.
@Suite("Handlers and subscriptions that are refused for a moment after a restart", .timeLimit(.minutes(2)))
struct RenewalTests {
    enum Program: CaseIterable {
        case script, python, node

        var missing: Bool {
            switch self {
            case .script: false
            case .python: !ClientLanguage.python.isInstalled
            case .node: !ClientLanguage.node.isInstalled
            }
        }

        /// Answers `first`, which then makes room, and `second`.
        func start(_ folder: TestFolder) throws -> ChildProcess {
            switch self {
            case .python: return try ClientLanguage.python.start("scenarios", "renewed", socket: folder("socket"))
            case .node: return try ClientLanguage.node.start("scenarios", "renewed", socket: folder("socket"))
            case .script:
                try folder.write(
                    """
                    quickconnect.handle('first', () => { quickconnect.removeHandler('first') })
                    quickconnect.handle('second', () => 'second')
                    makeCall('ping').then(() => console.log('ready null'))
                    """,
                    to: "renewed.js"
                )
                return try ChildProcess(
                    Products.path("quickconnect"),
                    ["run", "--socket", folder("socket"), folder("renewed.js")],
                    environment: ["PATH": "/usr/bin:/bin", "HOME": folder("home")]
                )
            }
        }
    }

    @Test(arguments: Program.allCases.filter { !$0.missing })
    func `a handler that finds no room is registered when there is some`(program: Program) async throws {
        let folder = try TestFolder()
        let first = try await DaemonProcess()
        symlink(first.socket, folder("socket"))
        let process = try program.start(folder)
        try await process.awaitLine("ready null")
        first.process.send(SIGKILL)
        try await first.process.wait()

        let second = try await DaemonProcess(settings: "limits: {handlersPerConnection: 1}")
        try folder.remove("socket")
        symlink(second.socket, folder("socket"))
        let client = try second.connect()
        try await client.awaitCommand("first")
        #expect(try await client.failure("second")["code"] == "unknownCommand")
        #expect(try await client.value("first", []) == .null)
        try await client.awaitCommand("second")
        #expect(try await client.value("second", []) == "second")
        process.send(SIGTERM)
        try await process.wait()
    }
}
