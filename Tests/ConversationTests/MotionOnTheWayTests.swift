import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("From the accelerometer to the socket", .serialized)
struct MotionOnTheWayTests {
    @Test func `accel answers one value, and the event tells them on`() async throws {
        let daemon = try await DaemonProcess()
        let (slow, fast) = (try daemon.connect(), try daemon.connect())
        let value = try #require(try await slow.ask(#"{"handlerName":"accel","callbackId":"1"}"#))
        let one = try #require(JSONParser.parse(value).objectValue?["responseData"]?.objectValue)
        // It lies on the table.
        #expect(abs((one["z"]?.numberValue ?? 0) - 1) < 0.02 && one["clock"] == "realtime")
        #expect(abs((one["timestamp"]?.numberValue ?? 0) / 1000 - Date().timeIntervalSince1970) < 60)

        _ = try await slow.ask(#"{"handlerName":"subscribe","data":["accel",{"rate":2}],"callbackId":"1"}"#)
        fast.send("call?cmd=subscribe&msg=%5B%22accel%22%2C%7B%22rate%22%3A50%7D%5D&id=1")
        #expect(try await fast.nextReply()?.id == "1")
        // Longer than it takes until the slow one is told its second value.
        for _ in 0..<60 {
            let event = try #require(try await fast.nextReply())
            #expect(event.command == "accel" && event.id == nil && event.value.objectValue?["x"]?.numberValue != nil)
        }
        var events = 0
        slow.send(#"{"handlerName":"ping","callbackId":"end"}"#)
        while let message = try await slow.nextMessage(), message["responseId"] == nil {
            #expect(message["handlerName"] == "accel" && message["data"]?.objectValue?["y"] != nil)
            events += 1
        }
        #expect(events >= 2)
        let state = try await daemon.client("call", "state").output
        #expect(state.contains(#"{"event":"accel","subscribers":2}"#))
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `without an accelerometer it is unsupported, with what was looked at`() async throws {
        let daemon = try await DaemonProcess([], settings: "motion: {device: none such}")
        let client = try daemon.connect()
        for call in ["accel&msg=", "subscribe&msg=accel"] {
            client.send("call?cmd=\(call)&id=1")
            let reply = try #require(try await client.nextReply())
            #expect(reply.code == "unsupported" && reply.message.contains("no accelerometer 'none such'"))
        }
        #expect(try await daemon.client("doctor").output.contains("no accelerometer 'none such'"))
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `a track without motion is unavailable, and the matrix of the settings turns one that has some`()
        async throws
    {
        let folder = try TestFolder()
        try folder.write("# nothing\n", to: "empty")
        try folder.write("{\"time\":0,\"x\":1,\"y\":2,\"z\":3}\n{\"time\":1,\"x\":1,\"y\":2,\"z\":3}\n", to: "still")
        let broken = try await DaemonProcess(settings: "motion: {replay: \(folder("empty"))}")
        #expect(try await broken.connect().ask("call?cmd=accel&id=1")?.contains("unavailable") == true)
        #expect(try await broken.stop() == .status(0))
        let settings = "motion: {replay: \(folder("still")), matrix: [[0, 1, 0], [-1, 0, 0], [0, 0, -1]]}"
        let daemon = try await DaemonProcess(settings: settings)
        let client = try daemon.connect()
        client.send("call?cmd=accel&id=1")
        let value = try #require(try await client.nextReply()?.value.objectValue)
        #expect(value["x"] == 2.0 && value["y"] == -1.0 && value["z"] == -3.0)
        #expect(try await daemon.stop() == .status(0))
    }

    /// The sensor sleeps, and so does the daemon.
    @Test(.measured) func `when the last subscriber is gone nothing wakes for it`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        client.send("call?cmd=subscribe&msg=%5B%22accel%22%2C%7B%22rate%22%3A100%7D%5D")
        _ = try await client.nextReply()
        client.close()
        // Sleeps until it is seen that the client is gone.
        try await Task.sleep(for: .seconds(1))
        let threads = ThreadList(process: daemon.process.pid)
        let before = threads.switches
        // Sleeps while the daemon should.
        try await Task.sleep(for: .seconds(3))
        // Timers of the start may still ring: 300 values would have come.
        #expect(threads.switches - before < 20)
        #expect(try await daemon.stop() == .status(0))
    }
}
