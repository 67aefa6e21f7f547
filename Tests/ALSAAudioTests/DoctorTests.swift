import Concurrency
import Foundation
import Logging
import MediaFolder
import QuickConnect
import TestRig
import Testing

@testable import ALSAAudio

extension SoundTests {
    /// What the doctor finds where the sound system hangs or refuses.
    @Suite(.enabled(if: RigPlugin.canBeBuilt, "the virtual card needs a C compiler"))
    struct SoundDoctorTests {
        private let folder: TestFolder
        private let log = LogRecord()

        init() throws { folder = try TestFolder() }

        /// - Parameter server: the path of a sound server's socket.
        private func doctor(_ pcm: String, server: String) -> SoundDoctor {
            let player = ALSASoundPlayer(output: .named(pcm), sounds: .none, logger: log.logger)
            let media = MediaFolder(path: folder("media"))
            let recorder = ALSARecorder(input: .named(pcm), folder: media, logger: log.logger)
            return SoundDoctor(
                player: player,
                recorder: recorder,
                environment: ["PULSE_SERVER": "unix:\(server)", "XDG_RUNTIME_DIR": folder("run")],
                account: OwnAccount(user: "ann", groups: ["audio"])
            )
        }

        private func findings(_ doctor: SoundDoctor) async -> [String: Finding] {
            let findings = await doctor.examine(thoroughly: false)
            return Dictionary(findings.map { ($0.subject, $0) }) { first, _ in first }
        }

        private var probes: [Int] {
            ["qc-doctor", "qc-spk-dr", "qc-mic-dr", "qc-mix-dr"].map { ThreadList(named: $0).count }
        }

        @Test func `a card that works is ok`() async throws {
            let doctor = doctor(try await RigPlugin.addCard(), server: folder("none"))
            let findings = await findings(doctor)
            #expect(findings["speaker"]?.state == .ok && findings["microphone"]?.state == .ok)
            #expect(findings["sound server"]?.state == .warning && findings["sound server"]?.tried.isEmpty == false)
        }

        @Test func `a card that another program holds is an error, with the command that shows it`() async throws {
            let doctor = doctor(try await RigPlugin.addCard("openerr \(EBUSY)"), server: folder("none"))
            let speaker = await findings(doctor)["speaker"]
            #expect(speaker?.state == .error && speaker?.inspect == "fuser -v /dev/snd/*" && speaker?.fix == nil)
            #expect(speaker?.says.contains("snd_pcm_open") == true && speaker?.tried.last?.contains("ann") == true)
        }

        /// Its queue is full, so that a connect(2) that blocks never comes back.
        @Test(.timeLimit(.minutes(5)))
        func `a server that takes no connection is told`() async throws {
            let path = folder("native")
            let listener = try #require(UnixListener(path))
            defer { withExtendedLifetime(listener) {} }
            let doctor = doctor(try await RigPlugin.addCard(), server: path)
            for _ in 0..<20 {
                let server = await findings(doctor)["sound server"]
                #expect(server?.state == .error && server?.says.contains("accepts no connection") == true)
            }
            try await eventually("the looks are over") { probes == [0, 0, 0, 0] }
            #expect(listener.connections <= 2)
        }

        @Test(.enabled(if: PulseServer.isInstalled, "pulseaudio and pulseaudio-utils are not installed"))
        func `a stopped server is told however often, by a thread each`() async throws {
            let server = try await PulseServer.start()
            let pcm = try server.addPCM()
            let doctor = doctor(pcm, server: server.folder("native"))
            server.send(SIGSTOP)
            for _ in 0..<3 {
                await withTaskGroup(of: [String: Finding].self) { group in
                    for _ in 0..<10 { group.addTask { await findings(doctor) } }
                    for await findings in group {
                        let says = findings["sound server"]?.says ?? ""
                        #expect(says.contains("but does not answer") || says.contains("accepts no connection"))
                        #expect(findings["speaker"]?.state == .error && findings["microphone"]?.state == .error)
                    }
                }
                // The one look at the server is over, those at the PCMs hang.
                try await eventually("only those threads are left") { probes == [0, 1, 1, 1] }
                // A look is no device at work: the watchdog need not hear of it.
                #expect(WatchedThread.blocked(longerThan: .zero).allSatisfy { !$0.contains(pcm) })
            }
            server.send(SIGCONT)
            try await eventually("it works again") { await findings(doctor)["speaker"]?.state == .ok }
            #expect(await findings(doctor)["sound server"]?.state == .ok)
            try await eventually("the looks are over") { probes == [0, 0, 0, 0] }
        }
    }
}

/// A Unix socket that nobody accepts on, with a queue for one.
private final class UnixListener {
    private let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    private var clients: [Int32] = []
    private let path: String

    init?(_ path: String) {
        self.path = path
        guard withAddress({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, 0) == 0 else { return nil }
        var result: Int32 = 0
        while result == 0 {
            let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            clients.append(client)
            result = withAddress { connect(client, $0, $1) }
        }
    }

    deinit { for descriptor in clients + [descriptor] { close(descriptor) } }

    /// Descriptors of this process that are connected to it.
    var connections: Int { clients.count }

    private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
