import Foundation
import JSON
import TestRig
import Testing

/// Completion in the shells themselves, against a daemon with simulated devices.
@Suite("Completion", .serialized)
struct CompletionTests {
    /// What the shells load, as `make install` lays it out, and the programs under the names that are typed.
    private struct Rig {
        let daemon: DaemonProcess
        let folder: TestFolder

        init() async throws {
            folder = try TestFolder()
            let mappings = folder("mappings")
            try FileManager.default.copyItem(atPath: Products.root + "/mappings", toPath: mappings)
            try folder.write(
                "bell: {event: {type: any}}\nnight: {schedule: {at: \"22:00\"}, call: [ping]}\n",
                to: "mappings/own.yaml"
            )
            daemon = try await DaemonProcess(mappings: mappings)
            for (shell, file) in [("bash", "quickconnect"), ("zsh", "_quickconnect"), ("fish", "quickconnect.fish")] {
                let made = try await daemon.client("--generate-completion-script", shell)
                #expect(made.exit == .status(0))
                try folder.write(made.output, to: file)
            }
            let files = FileManager.default
            for (source, file) in [("bash", "makecall"), ("zsh", "_makecall"), ("fish", "makecall.fish")] {
                try files.copyItem(atPath: "\(Products.root)/completion/makecall.\(source)", toPath: folder(file))
            }
            try files.createDirectory(atPath: folder("bin"), withIntermediateDirectories: true)
            for name in ["quickconnect", "makecall"] {
                let program = Products.path("quickconnect")
                try files.createSymbolicLink(atPath: folder("bin/\(name)"), withDestinationPath: program)
            }
        }

        /// What becomes of lines when Tab is pressed behind each.
        func pressTab(in shell: String, behind lines: [String]) async throws -> [String] {
            let child = try ChildProcess(
                "\(Products.root)/Tests/Completion/press-tab",
                [shell, folder.path] + lines,
                environment: [
                    "PATH": "\(folder("bin")):/usr/bin:/bin", "HOME": folder.path, "TERM": "dumb", "LANG": "C.UTF-8",
                    "QUICKCONNECT_SOCKET": daemon.socket,
                ]
            )
            let exit = try await child.wait(within: .seconds(180))
            #expect(exit == .status(0), "\(String(decoding: child.standardError, as: UTF8.self))")
            return String(decoding: child.standardOutput, as: UTF8.self).split(separator: "\n").map(String.init)
        }

        /// A file of the media folder, a handler that is a command, and another's subscription.
        func populate() async throws -> SocketClient {
            let client = try daemon.connect()
            let data = Data("hello".utf8).base64EncodedString()
            _ = try await client.value("media", ["write", "memo.txt", 0, .string(data), ["end": true]])
            _ = try await client.value("registerHandler", ["brighten"])
            return client
        }
    }

    /// A line, and what it becomes.
    private static let lines = [
        ("quickconnect call playSo", "quickconnect call playSound"),
        ("quickconnect call bri", "quickconnect call brighten"),
        ("quickconnect call play me", "quickconnect call play memo.txt"),
        ("quickconnect call --timeout 2 media rem", "quickconnect call --timeout 2 media remove"),
        ("quickconnect call removeHandler b", "quickconnect call removeHandler brighten"),
        ("quickconnect call subscribe accel loc", "quickconnect call subscribe accel location"),
        ("quickconnect events pl", "quickconnect events playState"),
        ("quickconnect media get m", "quickconnect media get memo.txt"),
        ("quickconnect explain playSo", "quickconnect explain playSound"),
        ("quickconnect call night r", "quickconnect call night run"),
        ("quickconnect events be", "quickconnect events bell"),
        ("quickconnect events ni", "quickconnect events night"),
        ("quickconnect sched", "quickconnect schedules"),
        ("quickconnect doctor rea", "quickconnect doctor readers"),
        ("quickconnect resto", "quickconnect restore"),
        ("quickconnect new kio", "quickconnect new kiosk"),
        ("quickconnect call xyz", "quickconnect call xyz"),
        ("makecall playSo", "makecall playSound"),
        ("makecall play me", "makecall play memo.txt"),
    ]

    private func check(_ shell: String) async throws {
        let rig = try await Rig()
        let client = try await rig.populate()
        defer { withExtendedLifetime(client) {} }
        let completed = try await rig.pressTab(in: shell, behind: Self.lines.map(\.0))
        #expect(completed == Self.lines.map(\.1))
    }

    @Test(.enabled(if: ChildProcess.isInstalled("python3"), "python3 is not installed"))
    func `of bash knows commands, files, handlers and events`() async throws { try await check("bash") }

    @Test(.enabled(if: ChildProcess.isInstalled("zsh"), "zsh is not installed"))
    func `of zsh knows them`() async throws { try await check("zsh") }

    @Test(.enabled(if: ChildProcess.isInstalled("fish"), "fish is not installed"))
    func `of fish knows them`() async throws { try await check("fish") }

    @Test(.enabled(if: ChildProcess.isInstalled("python3"), "python3 is not installed"))
    func `changes nothing where no daemon answers`() async throws {
        let rig = try await Rig()
        _ = try await rig.daemon.stop()
        let line = "quickconnect call playSo"
        #expect(try await rig.pressTab(in: "bash", behind: [line]) == [line])
    }
}
