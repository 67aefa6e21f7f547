import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// The event `volumeState`, whoever changes the volume.
@Suite("Volume events", .serialized)
struct VolumeEventTests {
    private func next(_ client: SocketClient) async throws -> JSONValue {
        while let reply = try await client.nextReply() {
            if reply.command == "volumeState" { return reply.value }
        }
        throw NotInTime(description: "no volumeState")
    }

    private func state(_ percent: Int64, _ isMuted: Bool = false) -> JSONValue {
        ["volume": .integer(percent), "muted": .bool(isMuted)]
    }

    /// Sends what cannot be an event of it, and sees that none comes before the answer.
    private func expectNothing(_ client: SocketClient) async throws {
        let reply = try await client.ask("call?cmd=ping&id=none")
        #expect(reply == "handleJSONRequest?cmd=ping&msg=null&id=none")
    }

    private func watches(_ daemon: DaemonProcess) -> Bool {
        ThreadList(process: daemon.process.pid, named: "qc-mixer").count == 1
    }

    @Test func `each change of a simulated loudspeaker is told once, to all who subscribe`() async throws {
        let daemon = try await DaemonProcess()
        let (one, other) = (try daemon.connect(), try daemon.connect())
        _ = try await one.value("subscribe", ["volumeState"])
        for level in [30, 30, "mute", "mute", "unmute", 31] as [JSONValue] {
            _ = try await other.value("volume", [level])
        }
        for expected in [state(30), state(30, true), state(30), state(31)] { #expect(try await next(one) == expected) }
        _ = try await one.value("unsubscribe", ["volumeState"])
        _ = try await other.value("volume", [99])
        try await expectNothing(one)
        #expect(try await one.reply("subscribe", ["volumeState", ["rate": 1]]).code == "invalid")
        #expect(try await one.reply("post", ["volumeState", 1]).code == "denied")
    }

    @Test(.enabled(if: PulseServer.isInstalled, "pulseaudio is not installed"))
    func `a change by another program is told once, and only while somebody subscribes is the mixer open`() async throws
    {
        let server = try await PulseServer.start()
        let daemon = try await DaemonProcess([], environment: try server.environmentAsDefault())
        let (client, other) = (try daemon.connect(), try daemon.connect())
        #expect(!watches(daemon))
        // At once behind the subscription, before anything can be open.
        client.send("call?cmd=subscribe&msg=volumeState\ncall?cmd=volume&msg=40\n")
        #expect(try await next(client) == state(40))
        try await eventually("the mixer is watched") { watches(daemon) }
        for percent in [55, 60] as [Int64] {
            try await server.pactl("set-sink-volume", "rig", "\(percent)%")
            #expect(try await next(client) == state(percent))
        }
        try await server.pactl("set-sink-mute", "rig", "1")
        #expect(try await next(client) == state(60, true))
        _ = try await other.value("volume", ["unmute"])
        #expect(try await next(client) == state(60))
        _ = try await other.value("volume", [60])
        try await server.pactl("set-sink-volume", "rig", "60%")
        _ = try await other.value("volume", [70])
        #expect(try await next(client) == state(70))
        _ = try await client.value("unsubscribe", [])
        try await eventually("nothing is watched") { !watches(daemon) }
        _ = try await client.value("subscribe", ["volumeState"])
        try await eventually("it is watched again") { watches(daemon) }
        #expect(try await daemon.stop() == .status(0))
    }

    @Test(.enabled(if: PulseServer.isInstalled, "pulseaudio is not installed"))
    func `a server that is killed and started again is watched again, and what changed is told`() async throws {
        let server = try await PulseServer.start()
        let daemon = try await DaemonProcess([], environment: try server.environmentAsDefault())
        let client = try daemon.connect()
        _ = try await client.value("subscribe", ["volumeState"])
        // Of another connection, or the event might come before the answer and be passed over.
        _ = try await daemon.connect().value("volume", [40])
        #expect(try await next(client) == state(40))
        try await server.kill()
        try await eventually("it is told") { daemon.log.contains("the volume cannot be watched") }
        try await server.restart()
        #expect(try await next(client) == state(100))
        try await server.pactl("set-sink-volume", "rig", "20%")
        #expect(try await next(client) == state(20))
    }

    @Test(.measured, .enabled(if: PulseServer.isInstalled, "pulseaudio is not installed"))
    func `watching the volume takes no processor time while nothing changes`() async throws {
        let server = try await PulseServer.start()
        let daemon = try await DaemonProcess([], environment: try server.environmentAsDefault())
        let client = try daemon.connect()
        _ = try await client.value("subscribe", ["volumeState"])
        try await eventually("the mixer is watched") { watches(daemon) }
        _ = try await daemon.connect().value("volume", [40])
        #expect(try await next(client) == state(40))
        let thread = ThreadList(process: daemon.process.pid, named: "qc-mixer")
        // The thread may still be opening the mixer, or taking in the change.
        var before = thread.voluntarySwitches
        try await eventually("it has come to rest") {
            // Sleeps between looks.
            try await Task.sleep(for: .milliseconds(200))
            defer { before = thread.voluntarySwitches }
            return thread.voluntarySwitches == before
        }
        // Sleeps while the thread should.
        try await Task.sleep(for: .seconds(2))
        #expect(thread.voluntarySwitches - before < 3)
    }

    @Test func `a PCM without a mixer has no such event, which is known once it was looked for`() async throws {
        let folder = try TestFolder()
        try folder.write("pcm.!default { type null }\n", to: "asound.conf")
        let daemon = try await DaemonProcess([], environment: ["ALSA_CONFIG_PATH": folder("asound.conf")])
        let client = try daemon.connect()
        _ = try await client.value("subscribe", ["volumeState"])
        try await eventually("it is known") { daemon.log.contains("the volume cannot be watched") }
        #expect(try await daemon.connect().reply("subscribe", ["volumeState"]).code == "unsupported")
    }
}
