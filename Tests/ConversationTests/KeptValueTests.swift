import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("Values over restarts")
struct KeptValueTests {
    private static let mapping = """
        ping: {view: []}
        state: {business: [StateBCO]}
        count: {value: {type: integer, default: 0, keep: true}}
        text: {value: {type: string, maxLength: 100, default: "", keep: true}}
        passing: {value: {type: integer, default: 0}}
        """

    /// A daemon whose state lies in `state`, to be run again and again.
    private func daemon(_ mappings: TestFolder, state: TestFolder) async throws -> DaemonProcess {
        try Self.mapping.write(toFile: mappings("values.yaml"), atomically: true, encoding: .utf8)
        return try await DaemonProcess(["--simulate", "--media", state("media")], mappings: mappings.path)
    }

    private func value(_ daemon: DaemonProcess, _ line: String) async throws -> JSONValue? {
        let client = try daemon.connect()
        client.send("call?cmd=\(line)&id=1")
        return try await client.nextReply()?.value
    }

    @Test func `a value that is kept outlives the daemon, another one does not`() async throws {
        let (mappings, state) = (try TestFolder(), try TestFolder())
        let first = try await daemon(mappings, state: state)
        #expect(try await value(first, "count&msg=5") == 5)
        #expect(try await value(first, "passing&msg=5") == 5)
        #expect(try await value(first, "text&msg=%22h%C3%A9llo%22") == "h\u{e9}llo")
        #expect(try await first.stop() == .status(0))
        let second = try await daemon(mappings, state: state)
        #expect(try await value(second, "count") == 5)
        #expect(try await value(second, "passing") == 0)
        #expect(try await value(second, "text") == "h\u{e9}llo")
    }

    @Test func `a kept value that a mapping takes out stays in the file, and is as it was when it comes back`()
        async throws
    {
        let (mappings, state) = (try TestFolder(), try TestFolder())
        func map(_ text: String) throws {
            try text.write(toFile: mappings("more.yaml"), atomically: true, encoding: .utf8)
        }
        let more = "reload: {business: [ReloadBCO]}\n"
        let door = more + "door: {value: {type: integer, default: 0, keep: true}}\n"
        try map(door)
        let first = try await daemon(mappings, state: state)
        #expect(try await value(first, "door&msg=5") == 5)
        try map(more)
        #expect(try await value(first, "reload") == .null)
        #expect(try await value(first, "door")?.objectValue?["code"] == "unknownCommand")
        // What is written meanwhile does not forget it.
        #expect(try await value(first, "count&msg=3") == 3)
        try await eventually("the file has both") {
            let text = (try? state.data("values.json")).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return text.contains(#""count":3"#) && text.contains(#""door":5"#)
        }
        try map(door)
        #expect(try await value(first, "reload") == .null)
        #expect(try await value(first, "door") == 5)
        #expect(try await value(first, "door&msg=6") == 6)
        try map(more)
        #expect(try await value(first, "reload") == .null)
        #expect(try await first.stop() == .status(0))
        // Nor does a daemon that never had it.
        let second = try await daemon(mappings, state: state)
        #expect(try await value(second, "count&msg=4") == 4)
        #expect(try await second.stop() == .status(0))
        try map(door)
        let third = try await daemon(mappings, state: state)
        #expect(try await value(third, "door") == 6)
        #expect(try await value(third, "count") == 4)
        #expect(try await third.stop() == .status(0))
        // One that is not to be kept any more goes.
        try map(door.replacing("true", with: "false"))
        let fourth = try await daemon(mappings, state: state)
        #expect(try await value(fourth, "door") == 0)
        #expect(try await value(fourth, "count&msg=5") == 5)
        #expect(try await fourth.stop() == .status(0))
        #expect(!String(decoding: try state.data("values.json"), as: UTF8.self).contains("door"))
    }

    @Test(arguments: [
        "", "rubbish", "\0\0\0", "[]", #"{"version":1}"#, #"{"version":9,"values":{"count":1}}"#,
        "{\"version\":1,\"val",
    ])
    func `a damaged file is told and set aside, and the daemon starts`(text: String) async throws {
        let (mappings, state) = (try TestFolder(), try TestFolder())
        try state.write(text, to: "values.json")
        let daemon = try await daemon(mappings, state: state)
        #expect(try await value(daemon, "count") == 0)
        try await eventually("it is told") { daemon.log.contains("values.json.damaged") }
        #expect(String(decoding: try state.data("values.json.damaged"), as: UTF8.self) == text)
        #expect(try await value(daemon, "count&msg=2") == 2)
        #expect(try await daemon.stop() == .status(0))
        #expect(String(decoding: try state.data("values.json"), as: UTF8.self).contains(#""count":2"#))
    }

    @Test func `each damaged copy stays, of values and of schedules`() async throws {
        let (mappings, state) = (try TestFolder(), try TestFolder())
        for copy in ["", ".2", ".3"] {
            for name in ["values.json", "schedules.json"] { try state.write("damage\(copy)", to: name) }
            let daemon = try await daemon(mappings, state: state)
            try await eventually("it is told") {
                ["values.json", "schedules.json"].allSatisfy {
                    daemon.log.contains("it is now \(state($0)).damaged\(copy)")
                }
            }
            #expect(try await daemon.stop() == .status(0))
        }
        for copy in ["", ".2", ".3"] {
            for name in ["values.json", "schedules.json"] {
                #expect(try state.data("\(name).damaged\(copy)") == Data("damage\(copy)".utf8))
            }
        }
    }

    @Test func `a second daemon on the state of another says whose it is`() async throws {
        let (mappings, state) = (try TestFolder(), try TestFolder())
        let first = try await daemon(mappings, state: state)
        let second = try await daemon(mappings, state: state)
        let says =
            "another daemon, process \(first.process.pid), keeps its values in \(state.path), and each overwrites"
        #expect(second.log.contains(says), "\(second.log)")
        #expect(try await second.stop() == .status(0))
        #expect(try await first.stop() == .status(0))
        #expect(try await !daemon(mappings, state: state).log.contains("another daemon"))
    }

    @Test func `a kept value that does not fit becomes its default, with a warning`() async throws {
        let (mappings, state) = (try TestFolder(), try TestFolder())
        try #"{"version":1,"values":{"count":"x","text":"y"}}"#.write(
            toFile: state("values.json"),
            atomically: true,
            encoding: .utf8
        )
        let daemon = try await daemon(mappings, state: state)
        #expect(try await value(daemon, "count") == 0)
        #expect(try await value(daemon, "text") == "y")
        try await eventually("it is told") {
            daemon.log.contains("the value 'count' was \"x\", which is not an integer; it becomes its default")
        }
    }

    @Test func `after a kill at any moment a kept value is one that it held`() async throws {
        try await kills(4, lateness: nil)
    }

    @Test(.measured) func `after a kill a kept value is one that it held within the last second`() async throws {
        // The disk may take its time.
        try await kills(12, lateness: .milliseconds(1500))
    }

    private func kills(_ rounds: Int, lateness: Duration?) async throws {
        let (mappings, state) = (try TestFolder(), try TestFolder())
        var random = SeededGenerator(seed: 7)
        var last: Int64 = 0
        for round in 0..<rounds {
            let daemon = try await daemon(mappings, state: state)
            let kept = try #require(try await value(daemon, "count")?.integerValue)
            #expect(kept <= last && kept >= 0, "round \(round)")
            // The numbers are milliseconds, so that the next daemon shows how old its value was.
            let start = ContinuousClock.now
            let client = try daemon.connect()
            let end = Duration.milliseconds(Int.random(in: 5...1500, using: &random))
            var sets: [(Int64, Duration)] = [(kept, .zero)]
            while ContinuousClock.now - start < end {
                let number = kept + Int64(sets.count)
                client.send("call?cmd=count&msg=\(number)&id=1")
                #expect(try await client.nextReply()?.value.integerValue == number)
                sets.append((number, ContinuousClock.now - start))
            }
            let killed = ContinuousClock.now - start
            daemon.process.send(SIGKILL)
            try await daemon.process.wait()
            last = sets.last?.0 ?? 0
            let text = try? String(decoding: state.data("values.json"), as: UTF8.self)
            let found = text.flatMap { try? JSONParser.parse($0) }?.objectValue?["values"]?.objectValue?["count"]
            guard let found = found?.integerValue else {
                #expect(text == nil && (lateness == nil || killed < .seconds(1)), "rubbish in the file: \(text ?? "")")
                continue
            }
            #expect((kept...last).contains(found), "round \(round): \(found) of \(last)")
            // It held until the next one was set.
            let until = sets.first { $0.0 > found }?.1 ?? killed
            if let lateness { #expect(killed - until < lateness, "round \(round): \(found) of \(last)") }
        }
    }

    @Test func `a file that cannot be written is told once, and the daemon goes on`() async throws {
        let (mappings, state) = (try TestFolder(), try TestFolder())
        try FileManager.default.createDirectory(atPath: state("values.json.new"), withIntermediateDirectories: true)
        let daemon = try await daemon(mappings, state: state)
        for number in 1...3 { #expect(try await value(daemon, "count&msg=\(number)") == .integer(Int64(number))) }
        try await eventually("it is told") { daemon.log.contains("values cannot be kept") }
        try FileManager.default.removeItem(atPath: state("values.json.new"))
        try await eventually("it is written") { daemon.log.contains("are kept in") }
        #expect(daemon.log.components(separatedBy: "cannot be kept").count == 2)
        daemon.process.send(SIGKILL)
        try await daemon.process.wait()
        #expect(String(decoding: try state.data("values.json"), as: UTF8.self).contains(#""count":3"#))
    }

    @Test(.slow) func `values that are too long together to be read again leave the file as it was`() async throws {
        let (mappings, state) = (try TestFolder(), try TestFolder())
        let large = (0..<17).map { "large\($0): {value: {type: string, keep: true}}\n" }.joined()
        try large.write(toFile: mappings("large.yaml"), atomically: true, encoding: .utf8)
        let first = try await daemon(mappings, state: state)
        #expect(try await value(first, "count&msg=5") == 5)
        try await eventually("it is kept") { (try? state.data("values.json")) != nil }
        let text = String(repeating: "x", count: 4_190_000)
        let client = try first.connect()
        for number in 0..<17 { _ = try await client.ask("call?cmd=large\(number)&msg=\(text)&id=1") }
        try await eventually("it is told") { first.log.contains("values cannot be kept") }
        #expect(try await first.stop() == .status(0))
        let second = try await daemon(mappings, state: state)
        #expect(try await value(second, "count") == 5)
        #expect(!second.log.contains("are lost"))
    }
}
