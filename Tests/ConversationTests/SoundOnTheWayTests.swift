import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite(
    "From the socket to the loudspeaker",
    .enabled(if: PulseServer.isInstalled, "pulseaudio is not installed"),
    .serialized
)
struct SoundOnTheWayTests {
    private func start() async throws -> (server: PulseServer, daemon: DaemonProcess) {
        let server = try await PulseServer.start()
        return (server, try await DaemonProcess([], environment: try server.environmentAsDefault()))
    }

    private func sound(_ name: String) throws -> [Float] {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(Products.root)/sounds/\(name)"))
        return try PCM16(wav: data).channel(0)
    }

    @Test(.measured) func `quickconnect call playSound 0 is heard as the laser`() async throws {
        let (server, daemon) = try await start()
        let recorder = try await server.record()
        let result = try await daemon.client("call", "playSound", "0")
        #expect(result.exit == .status(0) && result.output == "null\n")
        try await recorder.recordOn(for: 0.3)
        #expect(Signal.find(try sound("laser.wav"), in: try await recorder.finish()).correlation > 0.95)
        #expect(try await daemon.stop() == .status(0))
    }

    @Test(.measured) func `two sounds at once are both in it`() async throws {
        let (server, daemon) = try await start()
        let recorder = try await server.record()
        let client = try daemon.connect()
        client.send("call?cmd=playSound&msg=7&id=robot")
        client.send("call?cmd=playSound&msg=0&id=laser")
        #expect(try await Set([client.nextReply()?.id, client.nextReply()?.id]) == ["robot", "laser"])
        try await recorder.recordOn(for: 0.3)
        let recording = try await recorder.finish()
        // Each is a part of the sum, so it correlates less than alone; what is not in it stays below 0.1.
        #expect(Signal.find(try sound("laser.wav"), in: recording).correlation > 0.3)
        #expect(Signal.find(try sound("robot.wav"), in: recording).correlation > 0.6)
    }

    @Test func `a killed server gives the caller unavailable, and the next sound plays when it is back`() async throws {
        _ = try await playAfterKill()
    }

    @Test(.measured) func `what plays when a killed server is back is heard`() async throws {
        #expect(Signal.find(try sound("laser.wav"), in: try await playAfterKill()).correlation > 0.95)
    }

    /// - Returns: what is heard when the server is back.
    private func playAfterKill() async throws -> [Float] {
        let (server, daemon) = try await start()
        let client = try daemon.connect()
        client.send("call?cmd=playSound&msg=3&id=bell")
        try await eventually("the bell plays") {
            client.send("call?cmd=state&id=s")
            let playing = try await client.nextReply()?.value.objectValue?["playing"]?.arrayValue ?? []
            return (playing.first?.objectValue?["position"]?.numberValue ?? 0) > 0.1
        }
        try await server.kill()
        let reply = try await client.nextReply()
        #expect(reply?.id == "bell" && reply?.code == "unavailable")
        try await server.restart()
        let recorder = try await server.record()
        client.send("call?cmd=playSound&msg=0&id=laser")
        #expect(try await client.nextReply()?.value == .null)
        try await recorder.recordOn(for: 0.3)
        return try await recorder.finish()
    }

    @Test func `stop ends a sound, whose caller gets cancelled`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        client.send("call?cmd=playSound&msg=3&id=bell")
        client.send("call?cmd=stop&id=stop")
        var codes: [String: String?] = [:]
        for _ in 0..<2 {
            let reply = try await client.nextReply()
            codes[reply?.id ?? ""] = reply?.code
        }
        #expect(codes == ["stop": nil, "bell": "cancelled"])
    }

    @Test func `simulated, the laser is whole in a WAV file`() async throws {
        let daemon = try await DaemonProcess()
        #expect(try await daemon.client("call", "playSound", "0").exit == .status(0))
        #expect(try await daemon.stop() == .status(0))
        let data = try Data(contentsOf: URL(fileURLWithPath: daemon.folder("simulated/playback-000001.wav")))
        let laser = try sound("laser.wav")
        #expect(Signal.find(laser, in: try PCM16(wav: data).channel(0)).correlation > 0.999)
    }

    @Test func `a device that is not there is unavailable, in a sentence that names it`() async throws {
        let folder = try TestFolder()
        try "pcm.null { type null }\n".write(toFile: folder("asound.conf"), atomically: true, encoding: .utf8)
        let daemon = try await DaemonProcess(
            ["--pcm", "nosuchcard"],
            environment: ["ALSA_CONFIG_PATH": folder("asound.conf")]
        )
        let client = try daemon.connect()
        client.send("call?cmd=playSound&msg=0&id=1")
        let reply = try await client.nextReply()
        #expect(reply?.code == "unavailable")
        #expect(reply?.message.contains("nosuchcard") ?? false)
    }
}
