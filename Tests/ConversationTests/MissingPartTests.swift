import Foundation
import TestRig
import Testing

/// A device that has the client, and no part that is a package of its own.
@Suite("A part that is not installed")
struct MissingPartTests {
    private let folder: TestFolder

    /// Copies the client, which looks for the other programs beside itself; Swift's library stays where it finds it.
    init() throws {
        folder = try TestFolder()
        try Products.copy("quickconnect", to: folder)
    }

    private func client(_ arguments: [String], socket: String) async throws -> (ChildProcess.Exit, String) {
        let child = try ChildProcess(
            folder("bin/quickconnect"),
            arguments,
            environment: ["PATH": folder("bin"), "QUICKCONNECT_SOCKET": socket]
        )
        let exit = try await child.wait()
        return (exit, String(decoding: child.standardError, as: UTF8.self))
    }

    @Test func `each error of the tool begins with its name`() async throws {
        for words in [["call", "--nope"], ["ping", "--socket", "/nonexistent"], ["nope"], ["web", "open", "a", "b"]] {
            let child = try ChildProcess(Products.path("quickconnect"), words)
            #expect(try await child.wait() != .status(0))
            let told = String(decoding: child.standardError, as: UTF8.self)
            #expect(told.hasPrefix("quickconnect: ") && !told.contains("Error: "), "\(words): \(told)")
        }
    }

    @Test(arguments: [
        (["call", "--timout", "5", "ping"], "Unknown option '--timout', did you mean '--timeout'?"),
        (["simulate", "--sokcet"], "Unknown option '--sokcet', did you mean '--socket'?"),
        (["call", "--nope"], "Unknown option '--nope'."),
        // Behind the command it is taken, too.
        (["call", "--device=kiosk1", "ping"], "broker"), (["call", "--device", "kiosk1", "ping"], "broker"),
        (["call", "--json", "--timeout", "5", "--device", "kiosk1", "ping"], "broker"),
        (["call", "--device"], "--device needs the NAME of a device"),
    ])
    func `an option that there is not is asked for`(words: [String], text: String) async throws {
        let child = try ChildProcess(Products.path("quickconnect"), words)
        #expect(try await child.wait() != .status(0))
        let told = String(decoding: child.standardError, as: UTF8.self)
        #expect(told.contains(text), "\(told)")
    }

    @Test(arguments: [
        "quickconnectd", "quickconnect-scripts", "quickconnect-sync", "quickconnect-picker", "quickconnect-web",
        "quickconnect-kiosk", "quickconnect-mqtt",
    ])
    func `wrong usage of a program begins with its name`(program: String) async throws {
        let child = try ChildProcess(Products.path(program), ["--nope"])
        #expect(try await child.wait() == .status(2))
        let told = String(decoding: child.standardError, as: UTF8.self)
        #expect(told.hasPrefix("\(program): Unknown option '--nope'") && child.standardOutput.isEmpty, "\(told)")
        let help = try ChildProcess(Products.path(program), ["--help"])
        #expect(try await help.wait() == .status(0))
        #expect(String(decoding: help.standardOutput, as: UTF8.self).contains("USAGE: \(program)"))
    }

    @Test(
        "is named with its package",
        arguments: [
            (["fleet"], "quickconnect-mqtt is not installed. Install the package quickconnect-mqtt: sudo apt"),
            (["--device", "kiosk1", "call", "ping"], "Install the package quickconnect-mqtt:"),
            (["run", "bell.js"], "Install the package quickconnect-scripts: sudo apt install quickconnect-scripts\n"),
            (["procedure", "test", "x.js"], "quickconnect-scripts is not installed."),
            (["procedure", "sync"], "quickconnect-sync is not installed. Install the package quickconnect-scripts:"),
        ]
    )
    func isNamed(_ words: [String], _ text: String) async throws {
        let (exit, errors) = try await client(words, socket: folder("none"))
        #expect(exit == .status(1) && errors.contains(text), "\(errors)")
    }

    @Test("is named, where its mapping is there and where it is not", arguments: [true, false])
    func mapping(_ isThere: Bool) async throws {
        try FileManager.default.copyItem(atPath: "\(Products.root)/mappings", toPath: folder("mappings"))
        if !isThere { try FileManager.default.removeItem(atPath: folder("mappings/web.yaml")) }
        let daemon = try await DaemonProcess(mappings: folder("mappings"))
        let pages = try await client(["web", "open"], socket: daemon.socket)
        let text = "unavailable: quickconnect-web is not installed. Install the package quickconnect-web:"
        #expect(pages.0 == .status(1) && pages.1.contains(text), "\(pages.1)")
        let window = try await client(["action", "run", "page-title"], socket: daemon.socket)
        #expect(window.0 == .status(1) && window.1.contains("Install the package quickconnect-kiosk:"), "\(window.1)")
        _ = try await daemon.stop()
    }

    /// The daemon has the commands of scripts, macros and procedures, and nobody who answers them.
    @Test("is named by what needs the engine of JavaScript")
    func engine() async throws {
        let daemon = try await DaemonProcess()
        let text = "unavailable: quickconnect-scripts is not installed. Install the package quickconnect-scripts:"
        for words in [
            ["scripts"], ["macro", "list"], ["macro", "run", "addInner"], ["procedure", "list"],
            ["procedure", "run", "hasEntries"], ["call", "execute", "hasEntries"],
        ] {
            let (exit, errors) = try await client(words, socket: daemon.socket)
            #expect(exit == .status(1) && errors.contains(text), "\(words): \(errors)")
        }
        _ = try await daemon.stop()
    }

    /// An editor that saves something else than it was given.
    @Test("is named by the check of an action, and the text is kept")
    func check() async throws {
        try folder.write("#!/bin/sh\necho 'var Action = 1' >\"$1\"\n", to: "bin/editor")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder("bin/editor"))
        let child = try ChildProcess(
            folder("bin/quickconnect"),
            ["action", "edit", "mine"],
            environment: [
                "PATH": "\(folder("bin")):/usr/bin:/bin", "EDITOR": folder("bin/editor"), "HOME": folder.path,
            ]
        )
        let exit = try await child.wait()
        let errors = String(decoding: child.standardError, as: UTF8.self)
        #expect(exit == .status(1) && errors.contains("Install the package quickconnect-scripts:"), "\(errors)")
    }

    @Test("is named by the doctor where the owner has something for it", arguments: [true, false])
    func doctor(_ isWaiting: Bool) async throws {
        try FileManager.default.createDirectory(atPath: folder("config/scripts"), withIntermediateDirectories: true)
        if isWaiting { try folder.write("1\n", to: "config/scripts/mine.js") }
        let daemon = try await DaemonProcess()
        let child = try ChildProcess(
            folder("bin/quickconnect"),
            ["doctor", "--json"],
            environment: [
                "PATH": folder("bin"), "QUICKCONNECT_SOCKET": daemon.socket,
                "CONFIGURATION_DIRECTORY": folder("config"),
            ]
        )
        _ = try await child.wait()
        let report = String(decoding: child.standardOutput, as: UTF8.self)
        #expect(report.contains("sudo apt install quickconnect-scripts") == isWaiting, "\(report)")
        #expect(report.contains(folder("config/scripts")) == isWaiting)
        _ = try await daemon.stop()
    }

    @Test("is not named where the program cannot be run for another reason")
    func another() async throws {
        try folder.write("#!/no/such/interpreter\n", to: "bin/quickconnect-mqtt")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder("bin/quickconnect-mqtt"))
        let (exit, errors) = try await client(["fleet"], socket: folder("none"))
        #expect(exit == .status(1) && errors.contains("quickconnect-mqtt cannot be run: No such file"), "\(errors)")
    }
}
