import Foundation
import JSON
import QuickConnect
import Synchronization
import TestRig
import Testing

/// Files of the media folder, piece by piece.
@Suite("Media in pieces")
struct MediaTransferTests {
    private func files(_ daemon: DaemonProcess) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: daemon.folder("media")).sorted()
    }

    private func fields(_ reply: URLReply) -> [JSONValue?] {
        #expect(reply.code == "invalid", "\(reply.value.text)")
        let fields = reply.value.objectValue?["fields"]?.arrayValue ?? []
        return fields.map { $0.objectValue?["field"] }
    }

    @Test func `a file is written and read in pieces of any length`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        let bytes = Data((0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) })
        var offset = 0
        for length in [1, 2, 3, 1 << 20, 1000, 1 << 20, 401_842] {
            #expect(try files(daemon) == (offset == 0 ? [] : [".big.bin.upload"]))
            let piece = bytes[offset..<(offset + length)].base64EncodedString()
            offset += length
            let end: JSONValue = .bool(offset == bytes.count)
            let start = JSONValue.integer(Int64(offset - length))
            let call: JSONValue = ["write", "big.bin", start, .string(piece), ["end": end]]
            #expect(try await client.value("media", call) == .null)
        }
        #expect(try daemon.folder.data("media/big.bin") == bytes && files(daemon) == ["big.bin"])
        var read = Data()
        while read.count < bytes.count {
            let answer = try await client.value("media", ["read", "big.bin", .integer(Int64(read.count))]).objectValue
            #expect(answer?["size"] == 2_500_000 && answer?["offset"] == .integer(Int64(read.count)))
            let piece = try #require(Data(base64Encoded: answer?["data"]?.stringValue ?? "-"))
            #expect(piece.count == min(1 << 20, bytes.count - read.count))
            read += piece
        }
        #expect(read == bytes)
        let end: JSONValue = ["data": "", "offset": 2_500_001, "size": 2_500_000]
        #expect(try await client.value("media", ["read", "big.bin", 2_500_001, 5]) == end)
    }

    @Test(
        arguments: [
            ("[\"write\"]", ["/1", "/2", "/3"]), ("[\"write\",\"a.bin\",1,\"aGk=\"]", ["/2"]),
            ("[\"write\",\"a.bin\",0,\"aGk\"]", ["/3"]), ("[\"write\",\"a.bin\",0,\"aGl=\"]", ["/3"]),
            ("[\"write\",\"a.bin\",0,\"aG k\"]", ["/3"]), ("[\"write\",\"a.bin\",0,\"aGk=aGk=\"]", ["/3"]),
            ("[\"write\",\"a.bin\",0,\"a-_k\"]", ["/3"]), ("[\"write\",\"a.bin\",7,\"=\"]", ["/2", "/3"]),
            ("[\"write\",\"a.bin\",0,7]", ["/3"]), ("[\"write\",\"a.bin\",-1,\"\"]", ["/2"]),
            ("[\"write\",\"a.bin\",0.5,\"\"]", ["/2"]), ("[\"write\",\"a.bin\",1e300,\"\"]", ["/2"]),
            ("[\"write\",\"a.bin\",0,\"\",{\"end\":1,\"stop\":true}]", ["/4/end", "/4/stop"]),
            ("[\"write\",\"../a.bin\",0,\"\"]", ["/1"]), ("[\"write\",\".a.bin\",0,\"\"]", ["/1"]),
            ("[\"read\"]", ["/1"]), ("[\"read\",\"a.bin\",0,0]", ["/3"]), ("[\"read\",\"a.bin\",0,1048577]", ["/3"]),
            ("[\"read\",\"a.bin\",0,\"9\"]", ["/3"]), ("[\"read\",\"/etc/passwd\"]", ["/1"]),
            ("[\"remove\"]", ["/1"]), ("[\"remove\",\"a.bin\",0]", ["/2"]), ("[\"list\",\"a.bin\"]", ["/1"]),
        ]
    )
    func `what does not fit is invalid, naming each field, and leaves nothing`(
        parameters: String,
        expected: [String]
    ) async throws {
        let daemon = try await DaemonProcess()
        let reply = try await daemon.connect().reply("media", try JSONParser.parse(parameters))
        #expect(Set(fields(reply).compactMap { $0?.stringValue }) == Set(expected), "\(reply.message)")
        #expect(try files(daemon) == [])
    }

    @Test func `the longest piece is a megabyte, and a longer one is invalid`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        for (count, fits) in [(1 << 20, true), (1 << 20 + 1, false)] {
            let piece = JSONValue.string(Data(count: count).base64EncodedString())
            let reply = try await client.reply("media", ["write", "a.bin", 0, piece, ["end": true, "begin": true]])
            #expect(fits ? reply.value == .null : fields(reply) == ["/3"])
        }
    }

    @Test func `pieces must follow on, and one that does not changes nothing`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        _ = try await client.value("media", ["write", "a.txt", 0, "YWJj"])
        for offset in [0, 2, 4] as [JSONValue] {
            let reply = try await client.reply("media", ["write", "a.txt", offset, "eHh4"])
            #expect(fields(reply) == ["/2"] && reply.message.contains("offset, 3, "))
        }
        _ = try await client.value("media", ["write", "a.txt", 3, "ZGVm", ["end": true]])
        #expect(try daemon.folder.data("media/a.txt") == Data("abcdef".utf8))
        // And begin begins anew.
        _ = try await client.value("media", ["write", "a.txt", 0, "YWJj"])
        _ = try await client.value("media", ["write", "a.txt", 0, "eHh4", ["begin": true, "end": true]])
        #expect(try daemon.folder.data("media/a.txt") == Data("xxx".utf8) && files(daemon) == ["a.txt"])
    }

    @Test func `a file replaces only what it says, at its beginning and at its end`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        func write(_ text: String, _ options: JSONObject) async throws -> URLReply {
            let data = JSONValue.string(Data(text.utf8).base64EncodedString())
            var options = options
            for name in ["begin", "end", "describe"] where options[name] == nil { options[name] = true }
            return try await client.reply("media", ["write", "notes.txt", 0, data, .object(options)])
        }
        let missing = try await write("zero", ["replaces": true])
        #expect(missing.code == "invalid" && missing.message == "there is no file 'notes.txt' that could be replaced")
        #expect(missing.value.objectValue?["file"] == "notes.txt" && missing.value.objectValue?["tag"] == .null)
        let first = try await write("one", ["replaces": false])
        let tag = try #require(first.value.objectValue?["tag"])
        #expect(first.value.objectValue?["size"] == 3 && first.value.objectValue?["data"] == "")
        #expect(try await client.value("media", ["read", "notes.txt", 0, 9, ["tag": true]]).objectValue?["tag"] == tag)
        #expect(try await write("two", ["replaces": false]).message == "there is a file 'notes.txt' already")
        let second = try await write("two", ["replaces": ["old", tag]])
        #expect(second.code == nil, "\(second.value.text)")
        // Who has read the first one overwrites no second one.
        let late = try await write("three", ["replaces": tag])
        #expect(late.code == "invalid" && late.message.contains("read it again"), "\(late.value.text)")
        #expect(late.value.objectValue?["tag"] == second.value.objectValue?["tag"])
        // Nor where it comes while the file is being written.
        let now: JSONObject = ["replaces": second.value.objectValue?["tag"] ?? .null, "end": false]
        #expect(try await write("four", now).value == .null)
        try daemon.folder.write("by hand", to: "media/notes.txt")
        let end = try await client.reply("media", ["write", "notes.txt", 4, "", ["end": true]])
        #expect(end.code == "invalid" && end.value.objectValue?["file"] == "notes.txt")
        #expect(try files(daemon) == ["notes.txt"])
        #expect(try String(decoding: daemon.folder.data("media/notes.txt"), as: UTF8.self) == "by hand")
        for wrong in [7, ["a", 1], [:]] as [JSONValue] {
            #expect(fields(try await write("x", ["replaces": wrong])) == ["/4/replaces"])
        }
    }

    @Test func `an upload is gone with its connection, and another one cannot go on with it`() async throws {
        let daemon = try await DaemonProcess()
        let (one, other) = (try daemon.connect(), try daemon.connect())
        try daemon.folder.write("old", to: "media/a.txt")
        _ = try await one.value("media", ["write", "a.txt", 0, "YWJj"])
        #expect(fields(try await other.reply("media", ["write", "a.txt", 3, "YWJj"])) == ["/2"])
        #expect(try await other.reply("media", ["write", "a.txt", 0, "YWJj"]).code == "busy")
        #expect(try await other.reply("rec", ["a.txt.wav"]).code == nil)
        _ = try await other.value("rec", ["a.txt.wav", "stop"])
        #expect(try daemon.folder.data("media/a.txt") == Data("old".utf8))
        one.close()
        try await eventually("nothing is left of it") { try files(daemon) == ["a.txt", "a.txt.wav"] }
        _ = try await other.value("media", ["write", "a.txt", 0, "bmV3", ["end": true]])
        #expect(try daemon.folder.data("media/a.txt") == Data("new".utf8))
    }

    @Test func `pieces that are sent before the end of input are all written`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        for offset in 0..<50 {
            let end = offset == 49
            client.send("call?cmd=media&id=\(offset)&msg=[\"write\",\"a.txt\",\(offset),\"eA==\",{\"end\":\(end)}]")
        }
        client.endInput()
        #expect(try await client.rest().count == 50)
        #expect(try daemon.folder.data("media/a.txt") == Data(repeating: UInt8(ascii: "x"), count: 50))
    }

    @Test func `the end of input with half an upload leaves nothing`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        client.send("call?cmd=media&id=1&msg=[\"write\",\"a.txt\",0,\"eA==\"]")
        client.endInput()
        #expect(try await client.rest().count == 1)
        try await eventually("nothing is left of it") { try files(daemon) == [] }
    }

    @Test func `a connection writes four files at a time, and one more is overloaded`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        for number in 0..<4 { _ = try await client.value("media", ["write", "\(number).txt", 0, "eA=="]) }
        #expect(try await client.reply("media", ["write", "4.txt", 0, "eA=="]).code == "overloaded")
        _ = try await client.value("media", ["write", "0.txt", 1, "eA==", ["end": true]])
        _ = try await client.value("media", ["write", "4.txt", 0, "eA==", ["end": true]])
    }

    @Test func `a user writes sixteen files at a time, on however many connections`() async throws {
        let daemon = try await DaemonProcess()
        let strangers = try (0..<5).map { _ in try daemon.stranger() }
        var refused = 0
        for (number, each) in strangers.enumerated() {
            for file in 0..<4 where try await each.reply("media", ["write", "\(number)-\(file)", 0, ""]).code != nil {
                refused += 1
            }
        }
        #expect(refused == 4)
        // Others have their own.
        _ = try await daemon.connect().value("media", ["write", "root.txt", 0, "eA==", ["end": true]])
    }

    @Test func `reading much does not hold up others`() async throws {
        let daemon = try await DaemonProcess()
        let (greedy, other) = (try daemon.connect(), try daemon.connect())
        try daemon.folder.write(Data(count: 1 << 20), to: "media/a.bin")
        try daemon.folder.write("hi", to: "media/b.txt")
        for id in 0..<50 { greedy.send("call?cmd=media&id=\(id)&msg=[\"read\",\"a.bin\"]") }
        for id in 0..<10 { other.send("call?cmd=media&id=\(id)&msg=[\"read\",\"b.txt\"]") }
        let answered = Mutex(0)
        @Sendable func readLarge() async throws {
            for _ in 0..<50 {
                #expect(try await greedy.nextReply()?.code == nil)
                answered.withLock { $0 += 1 }
            }
        }
        async let large: Void = readLarge()
        for _ in 0..<10 { #expect(try await other.nextReply()?.code == nil) }
        // They take turns, however slow the machine is: about one large piece comes before each small one.
        #expect(answered.withLock { $0 } < 25)
        try await large
    }

    // MARK: The client

    @Test func `the client sends, lists, fetches and removes files`() async throws {
        let daemon = try await DaemonProcess()
        let bytes = Data((0..<(2 << 20)).map { UInt8(truncatingIfNeeded: $0 / 7) })
        try daemon.folder.write(bytes, to: "from.bin")
        #expect(try await daemon.client("media", "put", daemon.folder("from.bin")).exit == .status(0))
        #expect(try await daemon.client("media", "get", "from.bin", daemon.folder("to.bin")).exit == .status(0))
        #expect(try daemon.folder.data("to.bin") == bytes && !daemon.folder.exists("to.bin.part"))
        #expect(try await daemon.client("media", "put", "/dev/null", "empty").exit == .status(0))
        #expect(try await daemon.client("media", "get", "empty.caf", "-").output == "")
        let list = try await daemon.client("media", "list").output.split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
        #expect(list.map { [$0[0], $0.last ?? ""] }.dropFirst() == [["empty.caf", "root"], ["from.bin", "root"]])
        let json = try JSONParser.parse(try await daemon.client("media", "list", "--json").output)
        #expect(json.arrayValue?.count == 2)
        #expect(!(json.arrayValue ?? []).contains { $0.objectValue?["shared"] != nil })
        #expect(
            try await daemon.client("media", "put", "--shared", daemon.folder("from.bin"), "all.bin").exit == .status(0)
        )
        let all = try JSONParser.parse(try await daemon.client("media", "list", "--json").output).arrayValue ?? []
        #expect(all.filter { $0.objectValue?["shared"] == true }.map { $0.objectValue?["name"] } == ["all.bin"])
        #expect(try await daemon.client("media", "remove", "empty.caf", "from.bin", "all.bin").exit == .status(0))
        #expect(try files(daemon) == [])
        #expect(try await daemon.client("media", "get", "from.bin", daemon.folder("no.bin")).exit == .status(1))
        #expect(!daemon.folder.exists("no.bin") && !daemon.folder.exists("no.bin.part"))
        #expect(try await daemon.client("media", "put", "-").exit == .status(2))
        #expect(try await daemon.client("media", "put", daemon.folder("nothing")).exit == .status(1))
    }
}
