import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// Whose a file of the media folder is, and what others may do with it: asked over the real socket, by root and by
/// strangers.
@Suite("Owners of media", .enabled(if: OtherUser.isPossible, "only root can be several users"))
struct MediaOwnerTests {
    private static let other: UInt32 = 65_533

    private func put(_ text: String, as name: String, in daemon: DaemonProcess) throws {
        try daemon.folder.write(text, to: "media/\(name)")
    }

    private func owners(_ client: SocketClient) async throws -> [String: JSONValue] {
        let list = try await client.value("media", []).arrayValue ?? []
        return list.compactMap(\.objectValue).reduce(into: [:]) { owners, file in
            owners[file["name"]?.stringValue ?? ""] = file["owner"]
        }
    }

    private func files(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private func record(_ file: String, _ client: SocketClient) async throws {
        _ = try await client.value("rec", [.string(file)])
        try await client.awaitRecorded(0.05)
        _ = try await client.value("rec", [.string(file), "stop"])
    }

    @Test func `a recording and a written file belong to their caller, what lies there to root`() async throws {
        let daemon = try await DaemonProcess()
        let (root, stranger) = (try daemon.connect(), try daemon.stranger())
        try put("by hand", as: "hand.txt", in: daemon)
        try await record("take.wav", stranger)
        _ = try await stranger.value("media", ["write", "note.txt", 0, "aGk=", ["end": true]])
        _ = try await root.value("media", ["write", "own.txt", 0, "aGk=", ["end": true]])
        let nobody: JSONValue = ["uid": 65_534, "user": "nobody"]
        let rootOwner: JSONValue = ["uid": 0, "user": "root"]
        for client in [root, stranger] {
            #expect(
                try await owners(client)
                    == ["hand.txt": rootOwner, "note.txt": nobody, "own.txt": rootOwner, "take.wav": nobody]
            )
        }
    }

    @Test func `a user writes 16 files at a time, and leaves room for others`() async throws {
        let daemon = try await DaemonProcess()
        let strangers = try (0..<5).map { _ in try daemon.stranger() }
        var codes: [String?] = []
        for (number, client) in strangers.enumerated() {
            for file in 0..<4 {
                codes.append(try await client.reply("media", ["write", "\(number)-\(file)", 0, ""]).code)
            }
        }
        #expect(codes == Array(repeating: nil, count: 16) + Array(repeating: "overloaded", count: 4))
        let other = try daemon.connect(as: Self.other)
        #expect(try await other.reply("media", ["write", "other.txt", 0, "", ["end": true]]).code == nil)
    }

    @Test(
        arguments: [
            ["media", "read"], ["media", "remove"], ["media", "write"], ["rec"],
        ]
    )
    func `another user's file is not read, replaced or removed, and the refusal says whose it is`(
        call: [String]
    ) async throws {
        let daemon = try await DaemonProcess()
        let (root, owner, stranger) = (try daemon.connect(), try daemon.connect(as: Self.other), try daemon.stranger())
        try await record("take.wav", owner)
        try put("root's", as: "root.wav", in: daemon)
        let before = try daemon.folder.data("media/take.wav")
        for (file, whose) in [("take.wav", "uid 65533"), ("root.wav", "root (uid 0)")] {
            let parameters: [JSONValue] =
                switch call.last {
                case "rec": [.string(file)]
                case "write": ["write", .string(file), 0, "aGk=", ["end": true]]
                default: [.string(call[1]), .string(file)]
                }
            let reply = try await stranger.reply(call[0], .array(parameters))
            #expect(reply.code == "denied" && reply.message.contains("'\(file)' belongs to \(whose)"))
        }
        #expect(try daemon.folder.data("media/take.wav") == before)
        #expect(try daemon.folder.data("media/root.wav") == Data("root's".utf8))
        #expect(try files(daemon.folder("media")) == ["root.wav", "take.wav"])
        // Its owner and root may.
        let allowed: [JSONValue] = call == ["rec"] ? [] : [.string(call[1]), "take.wav"]
        for client in [owner, root] {
            switch call.last {
            case "rec": try await record("take.wav", client)
            case "write": _ = try await client.value("media", ["write", "take.wav", 0, "aGk=", ["end": true]])
            case "remove" where client === root: continue
            default: _ = try await client.value("media", .array(allowed))
            }
        }
    }

    @Test func `everybody may play and list another user's file`() async throws {
        let daemon = try await DaemonProcess()
        let stranger = try daemon.stranger()
        try await record("take.wav", try daemon.connect(as: Self.other))
        #expect(try await stranger.value("play", ["take.wav", ["wait": true]]) == .null)
        #expect(try await owners(stranger).keys.sorted() == ["take.wav"])
    }

    @Test func `whoever replaces a file owns it from then on`() async throws {
        let daemon = try await DaemonProcess()
        let (root, stranger) = (try daemon.connect(), try daemon.stranger())
        _ = try await stranger.value("media", ["write", "a.txt", 0, "aGk=", ["end": true]])
        _ = try await root.value("media", ["write", "a.txt", 0, "aG8=", ["end": true]])
        #expect(try await stranger.reply("media", ["read", "a.txt"]).code == "denied")
        _ = try await root.value("media", ["remove", "a.txt"])
        _ = try await stranger.value("media", ["write", "a.txt", 0, "aGk=", ["end": true]])
        #expect(try await stranger.value("media", ["read", "a.txt"]) == ["data": "aGk=", "offset": 0, "size": 2])
    }

    @Test func `owners outlive the daemon, however it ends, and a cut-off recording keeps its own`() async throws {
        let folder = try TestFolder()
        let flags = ["--simulate", "--media", folder("media")]
        let first = try await DaemonProcess(flags)
        let stranger = try first.stranger()
        try await record("whole.wav", stranger)
        _ = try await stranger.value("rec", ["cut.wav"])
        try await stranger.awaitRecorded(0.4)
        _ = try await stranger.value("media", ["write", "half.txt", 0, "aGk="])
        #expect(folder.exists("media/.half.txt.upload"))
        first.process.send(SIGKILL)
        try await first.process.wait()

        let second = try await DaemonProcess(flags)
        try await eventually("it is told") { second.log.contains("'cut.wav' was cut off, and is recovered") }
        let nobody: JSONValue = ["uid": 65_534, "user": "nobody"]
        #expect(try await owners(second.connect()) == ["cut.wav": nobody, "whole.wav": nobody])
        #expect(try files(folder("media")) == ["cut.wav", "whole.wav"])
        // What goes while no daemon looks is forgotten.
        #expect(try await second.stop() == .status(0))
        try folder.remove("media/cut.wav")
        let third = try await DaemonProcess(flags)
        #expect(try await owners(third.connect()) == ["whole.wav": nobody])
        #expect(!String(decoding: try folder.data("media.owners"), as: UTF8.self).contains("cut.wav"))
    }

    @Test(arguments: ["{\"version\":1,\"files\":{\"take.wav\":\"uid 655", "[]", "\u{0}", "{\"version\":2}"])
    func `a damaged index is set aside with a word in the log, and its files are root's`(text: String) async throws {
        let folder = try TestFolder()
        try FileManager.default.createDirectory(atPath: folder("media"), withIntermediateDirectories: true)
        try folder.write("x", to: "media/take.wav")
        try folder.write(text, to: "media.owners")
        let daemon = try await DaemonProcess(["--simulate", "--media", folder("media")])
        try await eventually("it is told") {
            daemon.log.contains("\(folder("media.owners")) is not an index of owners; it is kept as")
        }
        #expect(try folder.data("media.owners.damaged") == Data(text.utf8))
        #expect(try await daemon.stranger().reply("media", ["read", "take.wav"]).code == "denied")
    }

    @Test func `a caller fills the folder to its quota and no further, root as it likes`() async throws {
        let settings = "recording: {quotaBytes: 100000, quotaFiles: 3}"
        let daemon = try await DaemonProcess(settings: settings)
        let (root, stranger) = (try daemon.connect(), try daemon.stranger())
        let piece = JSONValue.string(Data(count: 60_000).base64EncodedString())
        _ = try await stranger.value("media", ["write", "one.bin", 0, piece, ["end": true]])
        // What is being written counts, in several files at a time too.
        _ = try await stranger.value("media", ["write", "two.bin", 0, "aGk="])
        #expect(try await stranger.reply("media", ["write", "two.bin", 2, piece]).code == "tooLarge")
        _ = try await stranger.value("media", ["write", "two.bin", 2, "aGk=", ["end": true]])
        #expect(try daemon.folder.data("media/two.bin") == Data("hihi".utf8))
        // A recording ends there, and keeps what it has: 40 kB are 0.4 s.
        _ = try await stranger.value("rec", ["three.wav"])
        try stranger.subscribe("recState")
        let event = try await stranger.awaitEvent("recState", state: "failed")
        #expect(event["code"] == "tooLarge")
        let recording = try await stranger.value("rec", ["three.wav", "stop"]).objectValue ?? [:]
        #expect(recording["ending"]?.objectValue?["code"] == "tooLarge")
        #expect((recording["seconds"]?.numberValue ?? 0) > 0.2)
        #expect(try await stranger.reply("media", ["write", "four.bin", 0, "", ["end": true]]).code == "tooLarge")
        _ = try await stranger.value("media", ["remove", "one.bin"])
        _ = try await stranger.value("media", ["write", "two.bin", 0, "", ["end": true]])
        for name in ["a", "b", "c", "d", "e"] {
            _ = try await root.value("media", ["write", .string(name), 0, piece, ["end": true]])
        }
    }

    @Test func `uploads leave the reserve of the disk free`() async throws {
        let daemon = try await DaemonProcess(settings: "recording: {reserveBytes: 1125899906842624}")
        let reply = try await daemon.connect().reply("media", ["write", "a.bin", 0, "aGk=", ["end": true]])
        #expect(reply.code == "unavailable" && reply.message.contains("the disk is full"))
        #expect(try files(daemon.folder("media")) == [])
    }
}
