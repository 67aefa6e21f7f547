import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// `play [file, {wait: true}]`, answered when the file is over.
@Suite("Playing to the end")
struct PlayToTheEndTests {
    private func start(seconds: Double = 1) async throws -> (daemon: DaemonProcess, client: SocketClient) {
        let daemon = try await DaemonProcess()
        let sound = PCM16(Signal.tone(440, seconds: seconds))
        try sound.wav.write(to: URL(fileURLWithPath: daemon.folder("media/tone.wav")))
        return (daemon, try daemon.connect())
    }

    @Test func `the answer comes when the last loop is over`() async throws {
        let (daemon, client) = try await start(seconds: 0.4)
        defer { withExtendedLifetime(daemon) {} }
        let time = try await TestRig.seconds {
            _ = try await client.value("play", ["tone.wav", "start", 2, ["wait": true]])
        }
        #expect(time > 1.1)
        #expect(try await client.value("state", []).objectValue?["playing"] == [])
    }

    @Test func `a pause is waited through, and calls behind it are not held up`() async throws {
        let (daemon, client) = try await start()
        defer { withExtendedLifetime(daemon) {} }
        client.send("call?cmd=play&id=play&msg=[\"tone.wav\",{\"wait\":true}]")
        client.send("call?cmd=ping&id=ping")
        #expect(try await client.nextReply()?.id == "ping")
        try await eventually("it plays") {
            let reply = try await client.reply("play", ["tone.wav", "pause"])
            return reply.code == nil
        }
        // Sleeps for longer than the whole file.
        try await Task.sleep(for: .seconds(1.2))
        #expect(try await client.value("state", []).objectValue?["playing"] != [])
        _ = try await client.value("play", ["tone.wav", "resume"])
        #expect(try await client.nextReply()?.id == "play")
    }

    @Test(arguments: ["stop", "play"])
    func `a file that is stopped gives cancelled`(command: String) async throws {
        let (daemon, client) = try await start(seconds: 30)
        client.send("call?cmd=play&id=play&msg=[\"tone.wav\",{\"wait\":true}]")
        let other = try daemon.connect()
        try await eventually("it plays") { try await other.value("state", []).objectValue?["playing"] != [] }
        _ = try await other.value(command, command == "stop" ? [] : ["tone.wav", "stop"])
        let reply = try await client.nextReply()
        #expect(reply?.id == "play" && reply?.code == "cancelled" && reply?.message.contains("was stopped") == true)
    }

    @Test(arguments: [true, false])
    func `it plays on when the waiting call is cancelled or its connection goes`(isCancelled: Bool) async throws {
        let (daemon, client) = try await start()
        client.send("call?cmd=play&id=play&msg=[\"tone.wav\",{\"wait\":true}]")
        let other = try daemon.connect()
        func position() async throws -> Double? {
            let playing = try await other.value("state", []).objectValue?["playing"]?.arrayValue?.first?.objectValue
            return playing?["position"]?.numberValue
        }
        try await eventually("it is heard") { try await position() ?? 0 > 0.1 }
        if isCancelled {
            client.send("call?cmd=cancel&msg=play")
            #expect(try await client.nextReply()?.code == "cancelled")
        } else {
            client.close()
        }
        try await eventually("it goes on") { try await position() ?? 0 > 0.7 }
    }

    @Test func `errors are those of any other play, and wait is true or false`() async throws {
        let (daemon, client) = try await start()
        defer { withExtendedLifetime(daemon) {} }
        #expect(try await client.reply("play", ["none.wav", ["wait": true]]).code == "notFound")
        #expect(try await client.reply("play", ["tone.wav", ["wait": 1]]).code == "invalid")
        #expect(try await client.reply("play", ["tone.wav", ["wait": true, "from": 9]]).code == "invalid")
    }

    @Test func `no timeout of the shipped mapping ends a long file`() async throws {
        let (daemon, client) = try await start()
        defer { withExtendedLifetime(daemon) {} }
        let timeout = try await client.value("explain", ["play"]).objectValue?["timeout"]?.numberValue ?? 0
        #expect(timeout >= 86_400)
    }
}
