import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// What listens, when it has no descriptor for another connection.
@Suite("No descriptor for another connection")
struct DescriptorShortageTests {
    private static let words = "connections wait until they can be taken: no descriptor is free (LimitNOFILE)"

    @Test func `the daemon waits, tells of it once, and serves all of them when there is room`() async throws {
        let daemon = try await DaemonProcess()
        let pid = daemon.process.pid
        let first = try daemon.connect()
        #expect(try await first.ask("call?cmd=ping&id=1") != nil)
        try await limitDescriptors(of: pid, to: descriptors(of: pid) + 3)
        var clients: [SocketClient] = []
        for _ in 0..<30 { clients.append(try daemon.connect()) }
        for client in clients { client.send("call?cmd=ping&id=2") }
        try await eventually("it is told") { daemon.log.contains(Self.words) }
        try await staysIdle(pid)
        #expect(daemon.log.components(separatedBy: Self.words).count == 2)
        #expect(try await first.ask("call?cmd=ping&id=3") == "handleJSONRequest?cmd=ping&msg=null&id=3")
        for client in clients {
            #expect(try await client.next() == "handleJSONRequest?cmd=ping&msg=null&id=2")
            client.close()
        }
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `the web gateway waits, tells of it once, and serves all of them when there is room`() async throws {
        let web = try await WebProcess()
        let pid = web.web.pid
        #expect(try await web.ask("GET", "/session").status == 401)
        try await limitDescriptors(of: pid, to: descriptors(of: pid) + 3)
        var connections: [WebConnection] = []
        for _ in 0..<30 { connections.append(try web.connection()) }
        try await eventually("it is told") { web.web.errors.contains(Self.words) }
        try await staysIdle(pid)
        #expect(web.web.errors.components(separatedBy: Self.words).count == 2)
        connections = []
        try await eventually("there is room again") { try await web.ask("GET", "/session").status == 401 }
    }

    @Test func `who asked for sound in vain meanwhile gets it afterwards`() async throws {
        let folder = try TestFolder()
        try folder.write("pcm.!default { type null }\nctl.!default { type null }\n", to: "asound.conf")
        let daemon = try await DaemonProcess(
            ["--pcm", "default"],
            environment: ["ALSA_CONFIG_PATH": folder("asound.conf")]
        )
        let pid = daemon.process.pid
        let client = try daemon.connect()
        #expect(try await client.ask("call?cmd=ping&id=1") != nil)
        try await limitDescriptors(of: pid, to: 3)
        // libasound reads its configuration now, and cannot.
        let refused = try await client.reply("playSound", [0])
        #expect(refused.code == "unavailable", "\(refused)")
        try await limitDescriptors(of: pid, to: 1024)
        #expect(try await client.reply("playSound", [0]).code == nil)
    }

    /// An event loop that tries again at once takes a core, or what it gets of one.
    private func staysIdle(_ pid: pid_t) async throws {
        let before = processorTime(of: pid)
        // Sleeps while the process should.
        try await Task.sleep(for: .seconds(2))
        #expect(processorTime(of: pid) - before < 0.15, "seconds of processor time within two seconds")
    }

    private func limitDescriptors(of pid: pid_t, to count: Int) async throws {
        let done = try await ChildProcess.run("prlimit", ["--pid", "\(pid)", "--nofile=\(count):"])
        #expect(done.exit == .status(0))
    }

    private func descriptors(of pid: pid_t) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0
    }

    /// proc(5), stat: the 14th and the 15th number are ticks, of which there are 100 in a second.
    private func processorTime(of pid: pid_t) -> Double {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13])
        else { return .infinity }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
