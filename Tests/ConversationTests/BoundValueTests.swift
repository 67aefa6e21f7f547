import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// Values that are bound to hardware, which a person moves by hand.
@Suite("Bound values")
struct BoundValueTests {
    private static let mapping = """
        ping: {parameters: [], view: []}
        subscribe: {business: [SubscribeBCO]}
        reload: {business: [ReloadBCO]}
        state: {parameters: [], business: [StateBCO]}
        explain: {parameters: [{name: command, type: string}], business: [ExplainBCO]}
        post: {parameters: [{name: name, type: string}, {name: data, type: any, optional: true}], business: [PostBCO]}
        doctor: {parameters: [{name: what, type: string, optional: true}], business: [DoctorBCO]}
        simulate: {parameters: [{name: what, type: string, optional: true}, {name: value, type: any, optional: true}], business: [SimulateBCO]}
        bell: {help: The bell push., value: {type: boolean, gpio: {line: GPIO17, bias: pull-up, activeLow: true, debounce: 20ms}}}
        lamp: {help: The lamp., value: {type: boolean, gpio: {line: GPIO27, output: true}, default: false}}
        motor: {value: {type: boolean, gpio: {line: GPIO22, output: true}, lease: connection}}
        fan: {value: {type: number, unit: "%", pwm: {chip: pwmchip0, channel: 0, frequency: 25kHz}, clamp: true}}
        light: {value: {type: number, unit: "%", led: led0}}
        sign: {value: {type: boolean, led: led2}}
        warmth: {value: {type: number, unit: "°C", sensor: {chip: cpu_thermal, input: temp1}, every: 100ms, step: 0.5}}
        """

    private func start() async throws -> (TestFolder, DaemonProcess) {
        let folder = try TestFolder.mappings(Self.mapping, after: [])
        return (folder, try await DaemonProcess(mappings: folder.path))
    }

    @Test func `a press is an event, and the state can be read`() async throws {
        let (_, daemon) = try await start()
        let (client, hand) = (try daemon.connect(), try daemon.connect())
        #expect(try await client.value("bell", []) == false)
        // Nobody listens: nothing is kept for later.
        _ = try await hand.value("simulate", ["bell", true])
        #expect(try await hand.value("bell", []) == true)
        _ = try await hand.value("simulate", ["bell", false])
        let state = try await client.value("state", []).objectValue
        let age = state?["ages"]?.objectValue?["bell"]?.numberValue
        #expect(age.map { (0..<30).contains($0) } == true && state?["ages"]?.objectValue?["lamp"] == nil)
        _ = try await client.value("subscribe", ["bell"])
        // The line is watched from a moment after the answer on; a read comes after that.
        _ = try await client.value("bell", [])
        for state in [true, false, true, true, false] as [JSONValue] {
            #expect(try await hand.value("simulate", ["bell", state]) == state)
        }
        for state in [true, false, true, false] as [JSONValue] { #expect(try await client.nextReply()?.value == state) }
        let set = try await client.reply("bell", [true])
        #expect(
            set.code == "unsupported" && set.message.contains("an output only with 'output: true'"),
            "\(set.message)"
        )
        let posts = [("bell", "the GPIO line GPIO17"), ("warmth", "temp1 of cpu_thermal")]
        for (name, source) in posts {
            let post = try await client.reply("post", [.string(name), true])
            #expect(post.code == "denied" && post.message == "nobody may post \(name): it comes from \(source)")
        }
        #expect(try await hand.reply("simulate", ["bell", 3]).code == "invalid")
        #expect(try await hand.reply("simulate", ["lamp", true]).code == "invalid")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `a recorded track presses in its own time, until a hand takes over`() async throws {
        let (_, daemon) = try await start()
        let (client, hand) = (try daemon.connect(), try daemon.connect())
        let lines = (0..<200).map { "{\"time\": \(Double($0) * 0.002), \"value\": \($0.isMultiple(of: 2))}" }
        try FileManager.default.createDirectory(atPath: daemon.folder("media"), withIntermediateDirectories: true)
        try daemon.folder.write("# two hundred edges\n" + lines.joined(separator: "\n"), to: "media/bell.json")
        try daemon.folder.write(
            "{\"time\": 0, \"value\": 31.5}\n{\"time\": 60, \"value\": 80}\n",
            to: "media/heat.json"
        )
        try daemon.folder.write(
            "{\"time\": 1, \"value\": true}\n{\"time\": 1, \"value\": false}\n",
            to: "media/wrong.json"
        )
        _ = try await client.value("subscribe", ["bell"])
        // The line is watched from a moment after the answer on; a read comes after that.
        _ = try await client.value("bell", [])
        let begin = ContinuousClock.now
        #expect(try await hand.value("simulate", ["bell", "bell.json"]) == ["track": "bell.json"])
        for number in 0..<200 { #expect(try await client.nextReply()?.value == .bool(number.isMultiple(of: 2))) }
        #expect(begin.duration(to: .now) >= .milliseconds(398))
        _ = try await hand.value("simulate", ["warmth", "heat.json"])
        #expect(try await hand.value("warmth", []) == 31.5)
        #expect(try await hand.value("simulate", ["warmth", 20]) == 20)
        for (track, code) in [("wrong.json", "invalid"), ("heat.json", "invalid"), ("none.json", "notFound")] {
            let reply = try await hand.reply("simulate", ["bell", .string(track)])
            #expect(reply.code == code && !reply.message.isEmpty, "\(reply.message)")
        }
        #expect(try await hand.reply("simulate", ["lamp", "bell.json"]).code == "invalid")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `a thousand presses arrive in their order`() async throws {
        let (_, daemon) = try await start()
        let (client, hand) = (try daemon.connect(), try daemon.connect())
        _ = try await client.value("subscribe", ["bell"])
        // The line is watched from a moment after the answer on; a read comes after that.
        _ = try await client.value("bell", [])
        let count = 1000
        hand.send((0..<count).map { "call?cmd=simulate&msg=%5B%22bell%22,\($0 % 2 == 0)%5D\n" }.joined())
        for number in 0..<count {
            let event = try #require(try await client.nextReply())
            #expect(event.command == "bell" && event.value == .bool(number % 2 == 0))
        }
    }

    @Test func `a lamp is set for a time, in a pattern, or until the next one`() async throws {
        let (_, daemon) = try await start()
        let (client, other) = (try daemon.connect(), try daemon.connect())
        _ = try await client.value("subscribe", ["lamp"])
        #expect(try await other.value("lamp", [true]) == true)
        #expect(try await client.nextReply()?.value == true)
        #expect(try await other.value("lamp", [true, ["for": "50ms"]]) == true)
        for state in [true, false] as [JSONValue] { #expect(try await client.nextReply()?.value == state) }
        #expect(try await other.value("lamp", []) == false)
        _ = try await other.value("lamp", [[30, 20, 30]])
        for state in [true, false] as [JSONValue] { #expect(try await client.nextReply()?.value == state) }
        for wrong in [[7], ["on"], [[]], [true, ["for": 5]], [true, ["of": "5s"]], [true, ["for": "2h"]]] as [JSONValue]
        {
            let reply = try await other.reply("lamp", wrong)
            #expect(reply.code == "invalid" && !reply.message.isEmpty, "\(wrong.text)")
        }
        #expect(try await other.value("lamp", []) == false)
    }

    @Test func `a lease ends with its connection, and a set for a time does not`() async throws {
        let (_, daemon) = try await start()
        let watcher = try daemon.connect()
        _ = try await watcher.value("subscribe", ["motor"])
        let driver = try daemon.connect()
        #expect(try await driver.value("motor", [true]) == true)
        #expect(try await watcher.nextReply()?.value == true)
        driver.close()
        #expect(try await watcher.nextReply()?.value == false)
        let robot = try daemon.connect()
        _ = try await robot.value("motor", [true, ["for": "300ms"]])
        #expect(try await watcher.nextReply()?.value == true)
        robot.close()
        #expect(try await watcher.value("motor", []) == true)
        #expect(try await watcher.nextReply()?.value == false)
    }

    @Test func `numbers have bounds, and a sensor tells what has changed enough`() async throws {
        let (_, daemon) = try await start()
        let (client, hand) = (try daemon.connect(), try daemon.connect())
        #expect(try await client.value("fan", [250]) == 100)
        #expect(try await client.value("light", [50]) == 50)
        #expect(try await client.reply("light", [101]).code == "invalid")
        #expect(try await client.reply("light", [[200]]).code == "invalid")
        #expect(try await client.value("warmth", []) == 20)
        _ = try await client.value("subscribe", ["warmth"])
        #expect(try await client.nextReply()?.value == 20)
        _ = try await hand.value("simulate", ["warmth", 20.2])
        _ = try await hand.value("simulate", ["warmth", 21])
        #expect(try await client.nextReply()?.value == 21)
        #expect(try await client.reply("warmth", [1]).code == "unsupported")
    }

    @Test func `it is explained, and the doctor looks at it`() async throws {
        let (_, daemon) = try await start()
        let client = try daemon.connect()
        let bell = try await client.value("explain", ["bell"]).objectValue?["value"]?.objectValue
        #expect(bell?["bound"] == "gpio" && bell?["input"] == true)
        #expect(bell?["hardware"]?.stringValue?.hasPrefix("the GPIO line ") == true)
        let words = try await daemon.client("explain", "bell").output
        #expect(words.hasPrefix("bell\n") && words.contains("boolean, read from the GPIO line GPIO17"), "\(words)")
        #expect(try await daemon.client("explain", "sign").output.contains("sign [[200, 100, 200]]"))
        #expect(try await daemon.client("explain", "light").output.contains("pattern") == false)
        let fan = try await client.value("explain", ["fan"]).objectValue?["value"]?.objectValue
        #expect(fan?["unit"] == "%" && fan?["minimum"] == 0 && fan?["maximum"] == 100 && fan?["input"] == nil)
        let findings = try await client.value("doctor", []).objectValue?["findings"]?.arrayValue ?? []
        let hardware = findings.compactMap(\.objectValue).first { $0["subject"] == "hardware" }
        #expect(hardware?["state"] == "ok" && hardware?["says"]?.stringValue?.contains("7 values") == true)
    }

    @Test func `a machine without them says what is missing, and serves the rest`() async throws {
        let folder = try TestFolder.mappings(Self.mapping, after: [])
        let daemon = try await DaemonProcess([], mappings: folder.path)
        let client = try daemon.connect()
        #expect(try await client.value("ping", []) == .null)
        for name in ["bell", "warmth"] { #expect(try await client.reply(name, []).code == "unavailable") }
        let lamp = try await client.reply("lamp", [true])
        #expect(lamp.code == "unavailable" && lamp.message.contains("GPIO27"), "\(lamp.message)")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `a value that keeps is kept without what lasts a while`() async throws {
        let folder = try TestFolder.mappings(
            "lamp: {value: {type: boolean, gpio: {line: GPIO27, output: true}, keep: true}}",
            after: []
        )
        let flags = ["--simulate", "--media", folder("state/media")]
        let first = try await DaemonProcess(flags, mappings: folder.path)
        let client = try first.connect()
        _ = try await client.value("lamp", [true])
        _ = try await client.value("lamp", [[10_000]])
        #expect(try await first.stop() == .status(0))
        let second = try await DaemonProcess(flags, mappings: folder.path)
        #expect(try await second.connect().value("lamp", []) == true)
    }

    @Test func `a reload ends what a changed output did, and goes on telling of what is read`() async throws {
        let (folder, daemon) = try await start()
        let (client, hand) = (try daemon.connect(), try daemon.connect())
        _ = try await client.value("subscribe", ["lamp", "bell"])
        _ = try await hand.value("lamp", [true, ["for": "1h"]])
        #expect(try await client.nextReply()?.value == true)
        let changed = Self.mapping.replacingOccurrences(of: "debounce: 20ms", with: "debounce: 5ms")
            .replacingOccurrences(
                of: "output: true}, default: false",
                with: "output: true}, default: false, keep: true"
            )
        try folder.write(changed, to: "zz-test.yaml")
        _ = try await hand.value("reload", [])
        #expect(try await client.nextReply()?.value == false)
        #expect(try await hand.value("lamp", []) == false)
        #expect(try await hand.value("bell", []) == false)
        _ = try await hand.value("simulate", ["bell", true])
        let event = try await client.nextReply()
        #expect(event?.command == "bell" && event?.value == true)
        _ = try await hand.value("lamp", [true, ["for": "1h"]])
        #expect(try await client.nextReply()?.value == true)
        // What has not changed goes on.
        _ = try await hand.value("reload", [])
        #expect(try await hand.value("lamp", []) == true)
    }

    @Test func `a sensor that was something else for a while is read again`() async throws {
        let (folder, daemon) = try await start()
        let client = try daemon.connect()
        _ = try await client.value("subscribe", ["warmth"])
        #expect(try await client.nextReply()?.value == 20)
        let other = Self.mapping.replacingOccurrences(
            of: "sensor: {chip: cpu_thermal, input: temp1}, every: 100ms, step: 0.5",
            with: "led: led1"
        )
        for text in [other, Self.mapping] {
            try folder.write(text, to: "zz-test.yaml")
            _ = try await client.value("reload", [])
        }
        #expect(try await daemon.connect().value("warmth", []) == 20)
    }
}
