import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// Recordings that a call waits for, files for all, and what a program asks about a file before it reads it.
@Suite("Shared media", .enabled(if: OtherUser.isPossible, "only root can be several users"))
struct SharedMediaTests {
    private static let other: UInt32 = 65_533

    @Test func `with wait a recording is answered at its limit, with its name and length`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        let answer = try await client.value("rec", ["bell.wav", ["limit": 0.3, "wait": true]]).objectValue ?? [:]
        #expect(answer["file"] == "bell.wav" && answer["seconds"] == 0.3 && answer["ending"] == "limit")
        #expect(try daemon.folder.data("media/bell.wav").count == answer["bytes"]?.numberValue.map { Int($0) })
        // Its result has been given.
        #expect(try await client.reply("rec", ["bell.wav", "stop"]).code == "notFound")
    }

    @Test func `who stops a recording and who waits for it get the same answer`() async throws {
        let daemon = try await DaemonProcess()
        let (one, other) = (try daemon.connect(), try daemon.connect())
        async let waiting = one.value("rec", ["bell.wav", ["wait": true]])
        try await other.awaitRecorded(0.1)
        let stopped = try await other.value("rec", ["bell.wav", "stop"])
        #expect(try await waiting == stopped && stopped.objectValue?["ending"] == nil)
        // What cannot begin fails as without wait, and a recording outlives the caller that waits for it.
        #expect(try await one.reply("rec", ["no/bell.wav", ["wait": true]]).code == "notFound")
        let fields = try await one.reply("rec", ["bell.wav", ["wait": 1, "shared": "yes"]])
        #expect(fields.code == "invalid" && fields.message.contains("wait") && fields.message.contains("shared"))
        one.send(#"{"handlerName":"rec","data":["long.wav",{"wait":true}],"callbackId":"1"}"#)
        try await other.awaitRecorded(0.1)
        one.close()
        try await eventually("it is gone") {
            try await other.value("state", []).objectValue?["connections"]?.text.contains("\"count\":1") == true
        }
        #expect(try await other.value("rec", ["long.wav", "stop"]).objectValue?["file"] == "long.wav")
    }

    @Test func `a shared file is read and removed by all, replaced by its owner alone, after a restart too`()
        async throws
    {
        let folder = try TestFolder()
        let flags = ["--simulate", "--media", folder("media")]
        let first = try await DaemonProcess(flags)
        let owner = try first.connect(as: Self.other)
        _ = try await owner.value("rec", ["bell.wav", ["limit": 0.1, "wait": true, "shared": true]])
        _ = try await owner.value("media", ["write", "note.txt", 0, "aGk=", ["end": true, "shared": true]])
        _ = try await first.connect().value("media", ["write", "root.txt", 0, "aGk=", ["end": true, "shared": true]])
        _ = try await owner.value("rec", ["own.wav", ["limit": 0.1, "wait": true]])
        _ = try await owner.value("rec", ["cut.wav", ["shared": true]])
        try await owner.awaitRecorded(0.4)
        first.process.send(SIGKILL)
        try await first.process.wait()

        let second = try await DaemonProcess(flags)
        try await eventually("it is told") { second.log.contains("'cut.wav' was cut off, and is recovered") }
        let stranger = try second.stranger()
        let list = try await stranger.value("media", []).arrayValue?.compactMap(\.objectValue) ?? []
        let shared = list.filter { $0["shared"] == true }.compactMap { $0["name"]?.stringValue }
        #expect(shared == ["bell.wav", "cut.wav", "note.txt", "root.txt"] && list.count == 5)
        for file in ["bell.wav", "cut.wav", "root.txt"] as [JSONValue] {
            #expect(try await stranger.reply("media", ["read", file]).code == nil)
            let replaced = try await stranger.reply("media", ["write", file, 0, "", ["end": true]])
            #expect(replaced.code == "denied" && replaced.message.contains("remove it first, or choose another name"))
        }
        #expect(try await stranger.value("media", ["remove", "bell.wav"]) == .null)
        #expect(try await stranger.reply("media", ["remove", "own.wav"]).code == "denied")
        // Who replaces a file says anew whether it is for all.
        let again = try second.connect(as: Self.other)
        _ = try await again.value("media", ["write", "note.txt", 0, "aGk=", ["end": true]])
        #expect(try await stranger.reply("media", ["read", "note.txt"]).code == "denied")
    }

    @Test func `a refusal names its remedies`() async throws {
        let daemon = try await DaemonProcess()
        let (root, stranger) = (try daemon.connect(), try daemon.stranger())
        _ = try await root.value("media", ["write", "a.txt", 0, "aGk=", ["end": true]])
        let reply = try await stranger.reply("media", ["read", "a.txt"])
        #expect(
            reply.message == """
                'a.txt' belongs to root (uid 0): only its owner and root may read it; make it with {"shared": true} \
                (rec, media write), so that all may, or allow this in a mapping: «media: {verbs: {read: {users: \
                [nobody]}}}»
                """
        )
        let replaced = try await stranger.reply("rec", ["a.txt.wav"])
        #expect(replaced.code == nil)
        let write = try await stranger.reply("media", ["write", "a.txt", 0, ""])
        #expect(write.code == "denied" && write.message.hasSuffix("may replace it; choose another name"))
    }

    @Test func `a read tells the file's tag and time if asked, and a new file has another tag`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        var tags: Set<String> = []
        let begin = Date().timeIntervalSince1970
        for text in ["aGk=", "aG8=", "aG8="] as [JSONValue] {
            _ = try await client.value("media", ["write", "a.txt", 0, text, ["end": true]])
            let read = try await client.value("media", ["read", "a.txt", 0, 1, ["tag": true]]).objectValue ?? [:]
            #expect(read["size"] == 2 && read["data"] == (text == "aGk=" ? "aA==" : "aA=="))
            tags.insert(read["tag"]?.stringValue ?? "")
            let modified = (read["modified"]?.numberValue ?? 0) / 1000
            #expect((begin - 1...Date().timeIntervalSince1970 + 1).contains(modified))
        }
        #expect(tags.count == 3 && !tags.contains(""))
        #expect(try await client.reply("media", ["read", "a.txt", 0, 1, ["tag": 1]]).code == "invalid")
        #expect(try await client.reply("media", ["read", "a.txt", 0, 1, ["end": true]]).code == "invalid")
    }

    @Test func `a file that will have no room is refused with its first piece`() async throws {
        let daemon = try await DaemonProcess(settings: "recording: {quotaBytes: 100000}")
        let (root, stranger) = (try daemon.connect(), try daemon.stranger())
        let reply = try await stranger.reply("media", ["write", "a.bin", 0, "", ["size": 100_001]])
        #expect(reply.code == "tooLarge" && reply.message.contains("recording.quotaBytes"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: daemon.folder("media")) == [])
        let disk = try await root.reply("media", ["write", "a.bin", 0, "", ["size": 1_152_921_504_606_846_976]])
        #expect(disk.code == "unavailable" && disk.message.contains("the disk is full"))
        #expect(try await stranger.reply("media", ["write", "a.bin", 0, "", ["size": -1]]).code == "invalid")
        _ = try await stranger.value("media", ["write", "a.bin", 0, "aGk=", ["size": 100_000, "end": true]])
        // What was promised and not used is free again.
        _ = try await stranger.value("media", ["write", "b.bin", 0, "", ["size": 99_990, "end": true]])
    }
}
