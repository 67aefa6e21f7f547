import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("The daemon as a service")
struct ServiceTests {
    @Test(arguments: [false, true])
    func `systemd is told when it is ready, what it does, that it lives, and that it stops`(
        isAbstract: Bool
    ) async throws {
        let systemd = try NotifySocket(isAbstract: isAbstract)
        let daemon = try await DaemonProcess(
            environment: ["NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "200000"]
        )
        var told: [String] = []
        try await eventually("systemd is told") {
            told += systemd.messages()
            return !told.isEmpty
        }
        #expect(told.first?.hasPrefix("READY=1\nSTATUS=") == true)
        try await eventually("the watchdog is fed four times") {
            told += systemd.messages()
            return told.filter { $0 == "WATCHDOG=1" }.count >= 4
        }
        let client = try daemon.connect()
        // What is short may be over when the next line is due: this takes minutes.
        client.send("call?cmd=vibrate&msg=[\(Array(repeating: "9000", count: 19).joined(separator: ",1,"))]&id=1")
        try await eventually("a line tells of the vibration") {
            told += systemd.messages()
            return told.contains { $0.hasPrefix("STATUS=") && $0.hasSuffix(" 1 connection; vibrates 1") }
        }
        client.close()
        try await eventually("another one that it is over") {
            told += systemd.messages()
            return told.last { $0.hasPrefix("STATUS=") }?.hasSuffix(" 0 connections") == true
        }
        #expect(try await daemon.stop() == .status(0))
        #expect((told + systemd.messages()).last { $0 != "WATCHDOG=1" }?.hasPrefix("STOPPING=1\n") == true)
    }

    @Test func `it ends, too, if nobody reads its log`() async throws {
        let folder = try TestFolder()
        #expect(mkfifo(folder("log"), 0o600) == 0)
        let reader = open(folder("log"), O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        let words = [
            Products.path("quickconnectd"), "--simulate", "--socket", folder("socket"), "--media", folder("media"),
            "--mappings", Products.root + "/mappings",
        ]
        let environment = ["PATH": "/usr/bin:/bin", "HOME": folder("home")]
        let daemon = try ChildProcess(
            "/bin/sh",
            ["-c", "exec \"$@\" 2>\(folder("log"))", "sh"] + words,
            environment: environment
        )
        try await eventually("it listens") { (try? SocketClient(path: folder("socket"))) != nil }
        let client = try SocketClient(path: folder("socket"))
        // More than a pipe holds.
        for _ in 0..<200 { _ = try await client.value("logMessage", [.string(String(repeating: "x", count: 1000))]) }
        daemon.send(SIGTERM)
        #expect(try await daemon.wait() == .status(0))
    }

    @Test func `a systemd that does not listen harms nobody`() async throws {
        let daemon = try await DaemonProcess(environment: [
            "NOTIFY_SOCKET": "/nowhere/notify", "WATCHDOG_USEC": "50000",
        ])
        #expect(try await daemon.connect().ask("call?cmd=ping&id=1") != nil)
        #expect(try await daemon.stop() == .status(0))
    }

    @Test(.enabled(if: PulseServer.isInstalled, "pulseaudio is not installed"))
    func `a device that does not come back is told, and ends nobody`() async throws {
        let systemd = try NotifySocket()
        let server = try await PulseServer.start()
        var environment = try server.environmentAsDefault()
        environment["NOTIFY_SOCKET"] = systemd.path
        environment["WATCHDOG_USEC"] = "1000000"
        let daemon = try await DaemonProcess([], environment: environment)
        server.send(SIGSTOP)
        defer { server.send(SIGCONT) }
        let client = try daemon.connect()
        client.send("call?cmd=playSound&msg=0&id=1")
        #expect(try await client.nextReply()?.code == "timeout")
        var told: [String] = []
        try await eventually("the status says so, and the watchdog is fed") {
            told += systemd.messages()
            guard let stuck = told.firstIndex(where: { $0.hasPrefix("STATUS=stuck: opening") }) else { return false }
            return told[stuck...].filter { $0 == "WATCHDOG=1" }.count >= 3
        }
        #expect(daemon.log.contains("stuck: opening"))
        #expect(try await client.ask("call?cmd=ping&id=2") != nil)
        client.send("call?cmd=playSound&msg=0&id=3")
        #expect(try await client.nextReply()?.code == "unavailable")
        server.send(SIGCONT)
        try await eventually("the status is as before") {
            told += systemd.messages()
            return told.last { $0.hasPrefix("STATUS=") }?.contains("stuck") == false
        }
        try await eventually("it sounds again") {
            client.send("call?cmd=playSound&msg=0&id=4")
            return try await client.nextReply()?.code == nil
        }
    }

    @Test(.measured) func `an idle daemon does not wake, also after its devices were used`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        for call in [
            "playSound&msg=0", "loc", "rec&msg=[\"a\"]", "rec&msg=[\"a\",\"stop\"]", "can&msg=[\"rec\",\"root\"]",
        ] {
            #expect(try await client.ask("call?cmd=\(call)&id=1")?.contains("cmd=error") == false, "\(call)")
        }
        // What ends by itself after a sound, such as an open card, has ended by then.
        try await eventually("it is at rest") {
            let before = daemon.switches
            // Sleeps while the daemon should.
            try await Task.sleep(for: .seconds(4))
            return daemon.switches == before
        }
    }

    @Test func `who has said nothing but what was not read yet is answered though the daemon stops`() async throws {
        let daemon = try await DaemonProcess()
        let (silent, other) = (try daemon.connect(), try daemon.connect())
        // Connections are taken in their order.
        #expect(try await other.ask("call?cmd=ping&id=1") != nil)
        daemon.process.send(SIGSTOP)
        let line = "call?cmd=ping&id=2\n"
        #expect(write(silent.descriptor, line, line.utf8.count) == line.utf8.count)
        daemon.process.send(SIGTERM)
        daemon.process.send(SIGCONT)
        #expect(try await silent.next() == "handleJSONRequest?cmd=ping&msg=null&id=2")
        #expect(try await daemon.process.wait() == .status(0))
    }

    /// It has a quarter of a second.
    @Test(.measured) func `who has just connected is answered though the daemon stops`() async throws {
        let daemon = try await DaemonProcess()
        let (silent, other) = (try daemon.connect(), try daemon.connect())
        // Connections are taken in their order.
        #expect(try await other.ask("call?cmd=ping&id=1") != nil)
        daemon.process.send(SIGTERM)
        try await eventually("it stops to listen") { !daemon.folder.exists("socket") }
        #expect(try await silent.ask("call?cmd=ping&id=2") == "handleJSONRequest?cmd=ping&msg=null&id=2")
        #expect(try await daemon.process.wait() == .status(0))
    }

    @Test func `a socket with a list of its own answers that, and says what would allow more`() async throws {
        let folder = try TestFolder()
        let daemon = try await DaemonProcess(
            settings: """
                sockets:
                  - {path: \(folder("guest")), commands: [ping, sounds, commands, can], mode: 0606}
                """
        )
        var status = stat()
        #expect(stat(folder("guest"), &status) == 0 && status.st_mode & 0o777 == 0o606)
        let guest = try SocketClient(path: folder("guest"))
        #expect(try await guest.ask("call?cmd=ping&id=1") == "handleJSONRequest?cmd=ping&msg=null&id=1")
        for command in ["playSound", "registerHandler", "noSuchCommand"] {
            guest.send("call?cmd=\(command)&msg=0&id=1")
            let refusal = try #require(try await guest.nextReply())
            #expect(refusal.code == "denied")
            #expect(refusal.message.contains("settings.yaml:2:5"), "\(refusal.message)")
            let line =
                "«commands: [\(["can", "commands", "ping", "sounds", command].sorted().joined(separator: ", "))]»"
            #expect(refusal.message.contains(line), "\(refusal.message)")
        }
        guest.send("call?cmd=commands&id=1")
        let listed = try await guest.nextReply()?.value.objectValue
        #expect(listed?.map(\.name) == ["can", "commands", "ping", "sounds"])
        guest.send("call?cmd=can&msg=stop&id=1")
        #expect(try await guest.nextReply()?.value.objectValue?["allowed"] == false)
        let own = try daemon.connect()
        #expect(try await own.ask("call?cmd=playSound&msg=0&id=1")?.contains("cmd=playSound") == true)
        // What a guest asked for is nothing that a command failed of.
        own.send("call?cmd=explain&msg=playSound&id=1")
        #expect(try await own.nextReply()?.value.objectValue?["lastError"] == .null)
        #expect(try await daemon.stop() == .status(0))
        #expect(!folder.exists("guest"))
    }

    @Test func `each call that touches a device has its line in the log, and so has each that is refused`() async throws
    {
        let folder = try TestFolder()
        let daemon = try await DaemonProcess(
            settings: "sockets: [{path: \(folder("guest")), commands: []}]"
        )
        let client = try daemon.connect()
        for call in ["playSound&msg=0", "ping", "sounds", "play&msg=[\"nothing.wav\"]", "playSound&msg=1000"] {
            _ = try await client.ask("call?cmd=\(call)&id=1")
        }
        _ = try await SocketClient(path: folder("guest")).ask("call?cmd=sounds&id=1")
        try await eventually("all are logged") { daemon.auditLines.count >= 4 }
        let lines = daemon.auditLines
        let who = " uid=\(getuid()) pid=\(getpid()) "
        #expect(lines.count == 4 && lines.allSatisfy { $0.contains(who) }, "\(lines)")
        guard lines.count == 4 else { return }
        let played = #/^audit: command=playSound allowed=yes outcome=ok seconds=\d+\.\d{3} /#
        #expect(lines[0].contains(played), "\(lines[0])")
        #expect(lines[0].hasSuffix(" arguments=[0]") && lines[0].contains(" program="))
        #expect(lines[1].contains("command=play allowed=yes outcome=notFound"))
        #expect(lines[1].hasSuffix(" arguments=[\"nothing.wav\",\"start\"]"))
        #expect(lines[2].contains("command=playSound allowed=yes outcome=notFound"))
        #expect(lines[3].contains("command=sounds allowed=no outcome=denied seconds=0.000"))
    }

    @Test func `a full socket for guests locks nobody else out, and their refusals do not drown the log`() async throws
    {
        let folder = try TestFolder()
        let daemon = try await DaemonProcess(
            settings: "sockets: [{path: \(folder("guest")), commands: [], connections: 2}]"
        )
        let guests = try (0..<2).map { _ in try SocketClient(path: folder("guest")) }
        // Connections that come together are taken in any order.
        for guest in guests { #expect(try await guest.ask("call?cmd=ping&id=first")?.contains("denied") == true) }
        let third = try SocketClient(path: folder("guest"))
        #expect(try await third.nextReply()?.code == "overloaded")
        guests[0].send([UInt8]((0..<500).map { "call?cmd=ping&id=\($0)\n" }.joined().utf8))
        for _ in 0..<500 { #expect(try await guests[0].nextReply()?.code == "denied") }
        #expect(try await daemon.connect().ask("call?cmd=playSound&msg=0&id=1")?.contains("cmd=playSound") == true)
        // What is left out of one second's lines is told behind it.
        let more = #/audit: (\d+) more refused calls of uid=(\d+) within a second$/#
        var leftOut = 0
        try await eventually("each refusal is told or counted") {
            let told = daemon.auditLines.compactMap { try? more.wholeMatch(in: $0) }
            leftOut = told.filter { $0.output.2 == "\(getuid())" }.compactMap { Int($0.output.1) }.reduce(0, +)
            return leftOut + daemon.auditLines.count { $0.contains("allowed=no") } == 502
        }
        #expect(leftOut > 0)
        #expect(daemon.auditLines.contains { $0.contains("command=playSound allowed=yes") })
    }

    @Test func `a device that fails with each call writes ten lines, and not one a call`() async throws {
        let daemon = try await DaemonProcess([], environment: ["ALSA_CONFIG_PATH": "/dev/null"])
        let client = try daemon.connect()
        for id in 0..<50 { #expect(try await client.ask("call?cmd=volume&id=\(id)")?.contains("cmd=error") == true) }
        #expect(try await daemon.stop() == .status(0))
        let lines = daemon.log.split(separator: "\n").filter { $0.contains(" warning ") }
        let warnings = lines.compactMap { $0.split(separator: " warning ").last }
        let counts = Dictionary(grouping: warnings) { $0 }.mapValues(\.count)
        #expect(counts.values.max() == 10, "\(counts)")
    }

    @Test func `the log of calls can be turned off, and what callers say cannot forge a line`() async throws {
        let silent = try await DaemonProcess(settings: "audit: false")
        _ = try await silent.connect().ask("call?cmd=playSound&msg=0&id=1")
        #expect(try await silent.stop() == .status(0))
        #expect(silent.auditLines.isEmpty)

        let folder = try TestFolder()
        let daemon = try await DaemonProcess(settings: "sockets: [{path: \(folder("guest")), commands: []}]")
        let client = try daemon.connect()
        let name = String(repeating: "x", count: 100_000)
        _ = try await SocketClient(path: folder("guest")).ask("call?cmd=\(name)&id=1")
        _ = try await client.ask("call?cmd=play&msg=%22b%0D%0Aaudit: command=x%22&id=1")
        _ = try await client.ask("call?cmd=play&msg=%22a%0Aaudit: command=x%22&id=1")
        _ = try await client.ask("call?cmd=play&msg=%22\(name)%22&id=1")
        try await eventually("all are logged") { daemon.auditLines.count >= 4 }
        #expect(daemon.auditLines.count == 4)
        #expect(daemon.auditLines.allSatisfy { $0.utf8.count < 600 })
    }

    @Test(.enabled(if: ChildProcess.isInstalled("python3"), "python3 is not installed"))
    func `the sockets that systemd passes are taken by their names`() async throws {
        let folder = try TestFolder()
        let settings = """
            sockets: [{systemd: guests, commands: [ping]}]
            """
        try settings.write(toFile: folder("settings.yaml"), atomically: true, encoding: .utf8)
        let daemon = try passing(["": "main", "guests": "guests"], folder)
        try await eventually("it answers") {
            (try? await SocketClient(path: folder("main")).ask("call?cmd=sounds&id=1"))?.contains("laser") == true
        }
        let guest = try SocketClient(path: folder("guests"))
        #expect(try await guest.ask("call?cmd=sounds&id=1")?.contains("denied") == true)
        #expect(try await guest.ask("call?cmd=ping&id=1") == "handleJSONRequest?cmd=ping&msg=null&id=1")
        daemon.send(SIGTERM)
        #expect(try await daemon.wait() == .status(0))
        // They are systemd's, so they stay.
        #expect(folder.exists("main") && folder.exists("guests"))
    }

    @Test(.enabled(if: ChildProcess.isInstalled("python3"), "python3 is not installed"))
    func `a socket of systemd's that no entry is for denies every call`() async throws {
        let folder = try TestFolder()
        try "sockets: [{systemd: guests, commands: [ping]}]"
            .write(toFile: folder("settings.yaml"), atomically: true, encoding: .utf8)
        let daemon = try passing(["": "main", "geusts": "guests"], folder)
        try await eventually("it answers") {
            (try? await SocketClient(path: folder("main")).ask("call?cmd=ping&id=1"))?.contains("cmd=ping") == true
        }
        let refusal = try await SocketClient(path: folder("guests")).ask("call?cmd=ping&id=1") ?? ""
        #expect(refusal.contains("denied") && refusal.contains("systemd%3A%20geusts"), "\(refusal)")
        try await eventually("the log says so") {
            String(decoding: daemon.standardError, as: UTF8.self).contains("a socket named 'geusts'")
        }
        daemon.send(SIGTERM)
        #expect(try await daemon.wait() == .status(0))
    }

    /// Starts a daemon as systemd does, with listening sockets from descriptor 3 on.
    private func passing(_ sockets: KeyValuePairs<String, String>, _ folder: TestFolder) throws -> ChildProcess {
        let script = """
            import os, socket, sys
            names, paths = sys.argv[1].split(":"), sys.argv[2].split(":")
            for index, path in enumerate(paths):
                made = socket.socket(socket.AF_UNIX)
                made.bind(path)
                made.listen()
                os.dup2(made.detach(), 40 + index)
            for index in range(len(paths)):
                os.dup2(40 + index, 3 + index)
                os.set_inheritable(3 + index, True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(paths)), LISTEN_FDNAMES=":".join(names))
            os.execv(sys.argv[3], sys.argv[3:])
            """
        return try ChildProcess(
            "python3",
            [
                "-c", script, sockets.map(\.key).joined(separator: ":"),
                sockets.map { folder($0.value) }.joined(separator: ":"), Products.path("quickconnectd"),
                "--config", folder("settings.yaml"), "--simulate", "--media", folder("media"),
                "--sounds", Products.root + "/sounds", "--mappings", Products.root + "/mappings",
            ],
            environment: ["PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": folder("home")]
        )
    }

    @Test(
        .enabled(if: ChildProcess.isInstalled("systemd-analyze"), "systemd-analyze is not installed"),
        arguments: [
            ("quickconnectd.service", "15"), ("quickconnect-scripts.service", "25"),
            ("quickconnect-data.service", "25"), ("quickconnect-web.service", "25"),
            ("quickconnect-mqtt.service", "25"),
        ]
    )
    func `the units expose little`(unit: String, limit: String) async throws {
        let path = "\(Products.root)/systemd/\(unit)"
        let arguments = ["security", "--offline=true", "--no-pager", "--threshold=\(limit)", path]
        let result = try await ChildProcess.run("systemd-analyze", arguments)
        #expect(result.exit == .status(0), "\(result.output)")
    }
}

extension ServiceTests {
    @Test func `each service has a state folder that is its own, and writes nowhere below etc`() throws {
        var folders: Set<String> = []
        let units = try FileManager.default.contentsOfDirectory(atPath: "\(Products.root)/systemd")
            // Root's, which puts settings and state back.
            .filter { $0.hasSuffix(".service") && $0 != "quickconnect-undo-restore.service" }
        for unit in units {
            let text = try String(contentsOfFile: "\(Products.root)/systemd/\(unit)", encoding: .utf8)
            let lines = text.split(separator: "\n").map(String.init)
            func values(_ key: String) -> [String] {
                lines.filter { $0.hasPrefix("\(key)=") }.flatMap { $0.dropFirst(key.count + 1).split(separator: " ") }
                    .map(String.init)
            }
            // The group of what was fetched is the service's that runs it.
            let mode = unit == "quickconnect-sync.service" ? "0750" : "0700"
            #expect(values("ProtectSystem") == ["strict"] && values("StateDirectoryMode") == [mode], "\(unit)")
            #expect(!values("ReadWritePaths").contains { $0.hasPrefix("/etc") }, "\(unit)")
            // The user's own name is its folder's.
            #expect(values("StateDirectory") == values("User"), "\(unit)")
            for folder in values("StateDirectory") { #expect(folders.insert(folder).inserted, "\(unit)") }
        }
        #expect(folders.count == units.count)
    }
}

extension DaemonProcess {
    /// The lines of the audit log, without what stands before them.
    var auditLines: [String] {
        log.split(separator: "\n").compactMap { line in
            line.range(of: "audit: ").flatMap {
                $0.lowerBound < line.index(line.startIndex, offsetBy: 40) ? String(line[$0.lowerBound...]) : nil
            }
        }
    }

    /// How often its threads have gone to sleep.
    var switches: Int { ThreadList(process: process.pid).voluntarySwitches }
}
