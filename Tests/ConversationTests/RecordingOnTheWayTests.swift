import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite(
    "From the microphone to a file",
    .enabled(if: PulseServer.isInstalled, "pulseaudio is not installed"),
    .serialized
)
struct RecordingOnTheWayTests {
    /// A daemon whose microphone hears what its loudspeaker plays.
    /// - Parameter microphone: the server's source; the monitor of its sink unless told otherwise.
    private func start(
        microphone: String = "rig.monitor"
    ) async throws -> (server: PulseServer, daemon: DaemonProcess) {
        let server = try await PulseServer.start()
        let environment = try server.environmentAsDefault("pcm.mon { type pulse device \"\(microphone)\" }")
        return (server, try await DaemonProcess(["--capture-pcm", "mon"], environment: environment))
    }

    private func put(_ sound: [Float], as name: String, in daemon: DaemonProcess) throws {
        try PCM16(sound).wav.write(to: URL(fileURLWithPath: daemon.folder("media/\(name)")))
    }

    private func recording(_ name: String, in daemon: DaemonProcess) throws -> PCM16 {
        try PCM16(wav: try Data(contentsOf: URL(fileURLWithPath: daemon.folder("media/\(name)"))))
    }

    @Test func `a tone of 440 Hz recorded for 3 s has its peak there`() async throws {
        let (server, daemon) = try await start()
        defer { withExtendedLifetime(server) {} }
        try put(Signal.tone(440, seconds: 5), as: "tone.wav", in: daemon)
        let client = try daemon.connect()
        #expect(try await client.value("play", ["tone.wav"]) == .null)
        let answer = try await record(3, client)
        #expect(answer["path"] == .string(daemon.folder("media/take.wav")))
        #expect(abs((answer["peak"]?.numberValue ?? 0) - 0.4) < 0.01)
        let sound = try recording("take.wav", in: daemon).channel(0)
        #expect(sound.count == 3 * 48_000)
        #expect(abs(Signal.peakFrequency(sound) - 440) < 1)
    }

    /// The server makes the tone itself: what is missing, the recorder has lost.
    @Test(.measured) func `a recording of 3 s has no gap`() async throws {
        let (server, daemon) = try await start(microphone: "sine")
        defer { withExtendedLifetime(server) {} }
        try await server.pactl("load-module", "module-sine-source", "source_name=sine", "frequency=440", "rate=48000")
        let client = try daemon.connect()
        _ = try await record(3, client)
        let sound = try recording("take.wav", in: daemon).channel(0)
        #expect(sound.count == 3 * 48_000 && abs(Signal.peakFrequency(sound) - 440) < 1)
        // A sine's neighbouring samples differ by a few hundredths at most: a lost frame or silence would jump.
        let level = sound.map(abs).max() ?? 0
        let jump = zip(sound, sound.dropFirst()).map { abs($0 - $1) }.max() ?? 1
        #expect(level > 0.1 && jump < level * 2 * Float.pi * 440 / 48_000 * 1.2)
        #expect(sound.split(whereSeparator: { abs($0) > 0.05 * level }).map(\.count).max() ?? 0 < 20)
    }

    /// Records for some seconds, to the frame.
    private func record(_ seconds: Double, _ client: SocketClient) async throws -> JSONObject {
        #expect(try await client.value("rec", ["take.wav", "start", ["limit": .number(seconds)]]) == .null)
        try client.subscribe("recState")
        try await client.awaitEvent("recState", state: "ended")
        let answer = try await client.value("rec", ["take.wav", "stop"]).objectValue ?? [:]
        #expect(answer["seconds"] == .number(seconds) && answer["ending"] == "limit" && answer["format"] == "wav")
        return answer
    }

    @Test(.measured) func `a chirp played while recording is found in the recording`() async throws {
        let (server, daemon) = try await start()
        defer { withExtendedLifetime(server) {} }
        let chirp = Signal.chirp(from: 300, to: 6000, seconds: 1.5)
        try put(chirp, as: "chirp.wav", in: daemon)
        let client = try daemon.connect()
        #expect(try await client.value("rec", ["take.wav"]) == .null)
        try client.subscribe("playState")
        #expect(try await client.value("play", ["chirp.wav"]) == .null)
        try await client.awaitEvent("playState", state: "ended")
        _ = try await client.value("rec", ["take.wav", "stop"])
        let found = Signal.find(chirp, in: try recording("take.wav", in: daemon).channel(0))
        #expect(found.correlation > 0.98)
    }

    @Test(.measured) func `a file that is played equals what the sink gets, sample for sample`() async throws {
        let (server, daemon) = try await start()
        let chirp = Signal.chirp(from: 300, to: 6000, seconds: 1)
        try put(chirp, as: "chirp.wav", in: daemon)
        let client = try daemon.connect()
        try client.subscribe("playState")
        // The sink goes on without sound where this machine is busy for longer than a buffer: such a run says nothing.
        for attempt in 1...4 {
            let recorder = try await server.record()
            #expect(try await client.value("play", ["chirp.wav"]) == .null)
            try await client.awaitEvent("playState", state: "ended")
            try await recorder.recordOn(for: 0.3)
            let heard = try await recorder.finish()
            let start = Signal.find(chirp, in: heard).start
            let isEqual = Array(heard[start...].prefix(chirp.count)) == PCM16(chirp).channel(0)
            #expect(isEqual || attempt < 4)
            if isEqual { break }
        }
    }

    @Test func `SIGTERM closes a recording properly`() async throws {
        let (server, daemon) = try await start()
        defer { withExtendedLifetime(server) {} }
        let client = try daemon.connect()
        #expect(try await client.value("rec", ["take.wav"]) == .null)
        try await client.awaitRecorded(0.5)
        #expect(try await daemon.stop() == .status(0))
        #expect(try recording("take.wav", in: daemon).frames > 20_000)
        #expect(try FileManager.default.contentsOfDirectory(atPath: daemon.folder("media")) == ["take.wav"])
    }

    @Test func `a killed sound server ends the recording, whose file is whole`() async throws {
        let (server, daemon) = try await start()
        let client = try daemon.connect()
        #expect(try await client.value("rec", ["take.wav"]) == .null)
        try await client.awaitRecorded(0.3)
        try client.subscribe("recState")
        try await server.kill()
        let event = try await client.awaitEvent("recState", state: "failed")
        #expect(event["code"] == "unavailable")
        let answer = try await client.value("rec", ["take.wav", "stop"]).objectValue ?? [:]
        #expect(answer["ending"]?.objectValue?["code"] == "unavailable")
        #expect(try recording("take.wav", in: daemon).frames > 10_000)
    }

    @Test func `a stopped sound server costs a recording its deadline, and nobody else anything`() async throws {
        let (server, daemon) = try await start()
        defer { withExtendedLifetime(server) {} }
        let client = try daemon.connect()
        server.send(SIGSTOP)
        client.send("call?cmd=rec&msg=take.wav&id=rec")
        client.send("call?cmd=ping&id=ping")
        #expect(try await client.nextReply()?.id == "ping")
        let reply = try await client.nextReply()
        #expect(reply?.id == "rec" && reply?.code == "timeout")
        #expect(try FileManager.default.contentsOfDirectory(atPath: daemon.folder("media")) == [])
        server.send(SIGCONT)
        try await eventually("it records again") {
            client.send("call?cmd=rec&msg=take.wav&id=again")
            return try await client.nextReply()?.code == nil
        }
        _ = try await client.value("rec", ["take.wav", "stop"])
    }

    @Test func `a recording that is stopped plays at once, in one turn`() async throws {
        let (server, daemon) = try await start()
        defer { withExtendedLifetime(server) {} }
        let client = try daemon.connect()
        for format in ["caf", "flac", "opus"] {
            #expect(try await client.value("rec", [.string("take.\(format)")]) == .null)
            try await client.awaitRecorded(0.2)
            let turn = [("rec", "stop"), ("play", "start")].map { command, verb in
                "call?cmd=\(command)&id=\(command)&msg=%5B%22take.\(format)%22%2C%22\(verb)%22%5D\n"
            }
            client.send(Array(turn.joined().utf8))
            for _ in turn {
                let reply = try await client.nextReply()
                #expect(reply?.code == nil, "\(reply?.id ?? "") of \(format): \(reply?.message ?? "")")
            }
        }
    }

    /// Two such calls were all that the daemon's threads for tasks could take.
    @Test func `doctor answers while the sound server is stopped, and holds up nobody`() async throws {
        let (server, daemon) = try await start()
        defer { withExtendedLifetime(server) {} }
        let clients = try (0..<8).map { _ in try daemon.connect() }
        _ = try await clients[0].value("doctor", [])
        var usual: (threads: Int, descriptors: Int)?
        server.send(SIGSTOP)
        for _ in 0..<3 {
            for client in clients { client.send("call?cmd=doctor&id=1") }
            let alone = try daemon.connect()
            _ = try await alone.value("state", [])
            alone.close()
            for client in clients {
                let report = try await client.nextReply().flatMap { DoctorReport($0.value) }
                let findings = Dictionary(report?.findings.map { ($0.subject, $0) } ?? []) { first, _ in first }
                for subject in ["speaker", "microphone", "sound server"] {
                    #expect(findings[subject]?.state == .error, "\(subject): \(findings[subject]?.says ?? "")")
                }
            }
            // The first visit's calls hang, each with a connection and a thread of libpulse. Later ones add nothing.
            let now = (threads: daemon.threads, descriptors: daemon.descriptors)
            #expect(now.threads <= usual?.threads ?? 40 && now.descriptors <= usual?.descriptors ?? 100)
            usual = usual ?? now
        }
        server.send(SIGCONT)
        try await eventually("the speaker is found again") {
            let report = DoctorReport(try await clients[0].value("doctor", []))
            return report?.findings.contains { $0.subject == "speaker" && $0.state == .ok } == true
        }
    }

    @Test func `doctor sound hears its tone through the monitor`() async throws {
        let (server, daemon) = try await start()
        defer { withExtendedLifetime(server) {} }
        let report = try await daemon.client("doctor", "--json", "sound")
        let findings = try #require(DoctorReport(try JSONParser.parse(report.output))).findings
        let states = Dictionary(findings.map { ($0.subject, $0.state) }) { first, _ in first }
        #expect(states["tone"] == .ok && states["speaker"] == .ok && states["microphone"] == .ok)
        #expect(states["daemon"] == .ok && states["media folder"] == .ok && states["sound server"] == .ok)
        // Whether this machine has gpsd is not this test's business.
        let isOK = findings.allSatisfy { $0.state != .error }
        #expect(report.exit == .status(isOK ? 0 : 1))
    }
}

extension SocketClient {
    /// Makes a call and gives its value; an error is the test's failure.
    func value(_ command: String, _ parameters: JSONValue) async throws -> JSONValue {
        let id = "v\(Int.random(in: 0...Int.max))"
        send("call?cmd=\(command)&id=\(id)&msg=\(PercentEncoding.encode(parameters.text))")
        while let reply = try await nextReply() {
            guard reply.id == id else { continue }
            #expect(reply.code == nil, "\(command): \(reply.message)")
            return reply.value
        }
        throw NotInTime(description: "no answer to \(command)")
    }

    func subscribe(_ event: String) throws { send("call?cmd=subscribe&msg=\(event)") }

    /// Waits for an event that tells of that state.
    @discardableResult
    func awaitEvent(_ name: String, state: String) async throws -> JSONObject {
        while let reply = try await nextReply() {
            let value = reply.value.objectValue ?? [:]
            if reply.command == name, value["state"] == .string(state) { return value }
        }
        throw NotInTime(description: "no \(name) '\(state)'")
    }

    /// Waits until the first recording has that many seconds.
    func awaitRecorded(_ seconds: Double) async throws {
        try await eventually("\(seconds) s are recorded") {
            let recording = try await value("state", []).objectValue?["recording"]?.arrayValue?.first
            return (recording?.objectValue?["seconds"]?.numberValue ?? 0) >= seconds
        }
    }
}

extension DaemonProcess {
    var threads: Int { ThreadList(process: process.pid).count }

    var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.pid)/fd").count) ?? 0
    }
}
