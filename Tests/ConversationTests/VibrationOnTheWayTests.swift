import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("From the socket to the motor", .serialized)
struct VibrationOnTheWayTests {
    /// What the simulated motor has done: milliseconds when it began, and 0 when it ended.
    private func steps(_ daemon: DaemonProcess) throws -> [Int] {
        let text = (try? String(decoding: daemon.folder.data("simulated/vibration.jsonl"), as: UTF8.self)) ?? ""
        return try text.split(separator: "\n").map { line in
            let step = try #require(JSONParser.parse(String(line)).objectValue)
            return step["vibrates"] == true ? Int(step["milliseconds"]?.integerValue ?? -1) : 0
        }
    }

    private func vibrating(_ daemon: DaemonProcess) async throws {
        try await eventually("it vibrates") { try steps(daemon).last ?? 0 > 0 }
    }

    private func resting(_ daemon: DaemonProcess) async throws {
        try await eventually("it rests") { try steps(daemon).last == 0 }
    }

    /// Minutes without a pause that can be seen: what ends sooner has been ended.
    private static let long = "[" + Array(repeating: "9000", count: 19).joined(separator: ",0,") + "]"

    @Test func `vibrate and playSound -1 answer when they are over`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        #expect(
            try await client.ask("call?cmd=vibrate&msg=%5B40%2C30%2C20%5D&id=1")
                == "handleJSONRequest?cmd=vibrate&msg=null&id=1"
        )
        let time = try await seconds {
            let result = try await daemon.client("call", "playSound", "-1")
            #expect(result.exit == .status(0) && result.output == "null\n")
        }
        #expect(time > 0.4)
        #expect(try steps(daemon) == [40, 0, 20, 0, 400, 0])
        #expect(try await daemon.client("call", "vibrate", "30", "20", "10").exit == .status(0))
        #expect(try steps(daemon).suffix(4) == [30, 0, 10, 0])
        let hello = try await client.ask(#"{"handlerName":"hello","callbackId":"h"}"#)
        #expect(hello?.contains(#""simulated":["sound","location","vibration","motion","nearby"]"#) == true)
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `it ends with a newer one, with 0, with cancel and with stop`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        for ending in ["vibrate&msg=20", "vibrate&msg=0", "vibrate&msg=%5B%5D", "cancel&msg=%5B%22long%22%5D", "stop"] {
            client.send("call?cmd=vibrate&msg=\(Self.long)&id=long")
            try await vibrating(daemon)
            let state = try await daemon.client("call", "state").output
            #expect(state.contains(#""vibrating":[{"pattern":[9000,0,9000,"#))
            client.send("call?cmd=\(ending)&id=ending")
            let replies = [try #require(try await client.nextReply()), try #require(try await client.nextReply())]
            #expect(replies.first { $0.id == "long" }?.code == "cancelled", "\(ending)")
            #expect(replies.first { $0.id == "ending" }?.code == nil, "\(ending)")
            try await resting(daemon)
        }
        #expect(try await daemon.client("call", "state").output.contains(#""vibrating":[]"#))
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `it ends with its connection`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        client.send("call?cmd=vibrate&msg=\(Self.long)&id=1")
        try await vibrating(daemon)
        client.close()
        try await resting(daemon)
        #expect(try await daemon.stop() == .status(0))
    }

    @Test(.measured) func `that of a sound ends with its connection`() async throws {
        let daemon = try await DaemonProcess()
        let other = try daemon.connect()
        other.send("call?cmd=playSound&msg=-1&id=1")
        try await vibrating(daemon)
        other.close()
        let time = try await seconds { try await resting(daemon) }
        #expect(time < 0.35)
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `it ends with the daemon`() async throws {
        let daemon = try await DaemonProcess(settings: "limits: {shutdownAfter: 500ms}")
        let client = try daemon.connect()
        client.send("call?cmd=vibrate&msg=\(Self.long)&id=1")
        try await vibrating(daemon)
        #expect(try await daemon.stop() == .status(0))
        #expect(try await client.nextReply()?.code == "cancelled")
        #expect(try steps(daemon).first == 9000 && steps(daemon).last == 0)
    }

    @Test func `another user's 0 and stop end nothing, another user's pattern takes its place`() async throws {
        guard geteuid() == 0, ChildProcess.isInstalled("setpriv") else { return }
        let daemon = try await DaemonProcess()
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: daemon.socket)
        func asNobody(_ arguments: String...) async throws -> String {
            let flags = [
                "--reuid=65534", "--clear-groups", Products.path("quickconnect"), "call", "--socket", daemon.socket,
            ]
            return try await ChildProcess.run("setpriv", flags + arguments).output
        }
        let client = try daemon.connect()
        client.send("call?cmd=vibrate&msg=\(Self.long)&id=1")
        try await vibrating(daemon)
        #expect(try await asNobody("vibrate", "0") == "null\n")
        #expect(try await asNobody("stop") == "null\n")
        #expect(try steps(daemon).last == 9000)
        #expect(try await asNobody("vibrate", "10") == "null\n")
        #expect(try await client.nextReply()?.code == "cancelled")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `without a motor it is unsupported, with what was looked at`() async throws {
        let daemon = try await DaemonProcess([], settings: "vibration: {device: \(#filePath)}")
        let client = try daemon.connect()
        for call in ["vibrate&msg=200", "playSound&msg=-1"] {
            client.send("call?cmd=\(call)&id=1")
            let reply = try #require(try await client.nextReply())
            #expect(reply.code == "unsupported" && reply.message.contains(#filePath))
        }
        #expect(try await client.ask("call?cmd=vibrate&msg=0&id=2") == "handleJSONRequest?cmd=vibrate&msg=null&id=2")
        #expect(try await daemon.stop() == .status(0))
    }
}
