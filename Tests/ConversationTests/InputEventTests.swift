import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// Events that come from readers and keys, on which a person types.
@Suite("Events of input devices")
struct InputEventTests {
    private static let mapping = """
        ping: {parameters: [], view: []}
        commands: {parameters: [], business: [CommandsBCO]}
        explain: {parameters: [{name: command, type: string}], business: [ExplainBCO]}
        subscribe: {business: [SubscribeBCO]}
        reload: {business: [ReloadBCO]}
        post: {parameters: [{name: name, type: string}, {name: data, type: any, optional: true}], business: [PostBCO]}
        doctor: {parameters: [{name: what, type: string, optional: true}], business: [DoctorBCO]}
        simulate: {parameters: [{name: what, type: string, optional: true}, {name: value, type: any, optional: true}], business: [SimulateBCO]}
        door: {help: The reader at the door., event: {reader: {device: usb-Sycreader-event-kbd}, maxLength: 20}}
        desk: {event: {reader: {device: usb-Honeywell-event-kbd, ends: Tab}, last: true}}
        remote: {event: {keys: {device: usb-Remote-event-kbd, names: {KEY_PLAYPAUSE: play, KEY_STOP: stop}}}}
        """

    private func start(_ flags: [String] = ["--simulate"]) async throws -> (TestFolder, DaemonProcess) {
        let folder = try TestFolder.mappings(Self.mapping, after: [])
        return (folder, try await DaemonProcess(flags, mappings: folder.path))
    }

    @Test func `without names of their own, only keys that the kernel knows can be pressed`() async throws {
        let pedal = "pedal: {event: {keys: {device: a-event}}}"
        let folder = try TestFolder.mappings("simulate: {business: [SimulateBCO]}\n\(pedal)", after: [])
        let daemon = try await DaemonProcess(mappings: folder.path)
        let hand = try daemon.connect()
        #expect(try await hand.value("simulate", ["pedal", "KEY_PLAYPAUSE"]) == "KEY_PLAYPAUSE")
        let wrong = try await hand.reply("simulate", ["pedal", "KEY_PLAY_PAUSE"])
        #expect(wrong.message.hasPrefix("/1/key: expected key, the kernel's name of one"), "\(wrong.message)")
        #expect(wrong.message.hasSuffix("did you mean 'KEY_PLAYPAUSE'?"), "\(wrong.message)")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `a text is an event, and not repeated by a call unless it shall be`() async throws {
        let (_, daemon) = try await start()
        let (client, hand) = (try daemon.connect(), try daemon.connect())
        _ = try await client.value("subscribe", ["door", "desk"])
        for name in ["door", "desk"] {
            #expect(try await hand.value("simulate", [.string(name), "0012345678"]) == "0012345678")
            let event = try #require(try await client.nextReply())
            #expect(event.command == name && event.value == "0012345678")
        }
        #expect(try await client.value("door", []) == .null)
        #expect(try await client.value("desk", []) == "0012345678")
        for wrong in [["door", 12], ["door", ""], ["door", "123456789012345678901"], ["door", true]] as [JSONValue] {
            #expect(try await hand.reply("simulate", wrong).code == "invalid")
        }
        #expect(try await hand.reply("post", ["door", "1"]).code == "denied")
        #expect(try await hand.reply("door", ["1"]).code == "invalid")
        let names = try await hand.reply("simulate", ["dor", "1"]).message
        #expect(names.contains("door") && names.contains("remote"), "\(names)")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `keys are pressed and released, and a name does both`() async throws {
        let (_, daemon) = try await start()
        let (client, hand) = (try daemon.connect(), try daemon.connect())
        _ = try await client.value("subscribe", ["remote"])
        _ = try await hand.value("simulate", ["remote", "play"])
        for pressed in [true, false] {
            #expect(try await client.nextReply()?.value == ["key": "play", "pressed": .bool(pressed)])
        }
        _ = try await hand.value("simulate", ["remote", ["key": "stop", "pressed": true]])
        #expect(try await client.nextReply()?.value == ["key": "stop", "pressed": true])
        for wrong in ["rewind", ["key": "play"], ["key": "play", "pressed": 1], 7] as [JSONValue] {
            #expect(try await hand.reply("simulate", ["remote", wrong]).code == "invalid", "\(wrong.text)")
        }
    }

    @Test func `the declaration tells what it comes from`() async throws {
        let (_, daemon) = try await start()
        let commands = try await daemon.connect().value("commands", []).objectValue ?? [:]
        let event = commands["remote"]?.objectValue?["event"]?.objectValue ?? [:]
        let explained = try await daemon.client("explain", "remote").output
        #expect(explained.contains("from the input device usb-Remote-event-kbd"), "\(explained)")
        #expect(event["bound"] == "keys" && event["device"] == "usb-Remote-event-kbd" && event["type"] == "object")
        #expect(commands["door"]?.objectValue?["event"]?.objectValue?["maxLength"] == 20)
    }

    @Test func `a reload takes up another reader, and what stays goes on`() async throws {
        let (folder, daemon) = try await start()
        let (client, hand) = (try daemon.connect(), try daemon.connect())
        _ = try await client.value("subscribe", ["door", "gate"])
        let mapping = Self.mapping.replacing("desk:", with: "gate:")
        try folder.write(mapping, to: "zz-test.yaml")
        _ = try await hand.value("reload", [])
        #expect(try await hand.reply("simulate", ["desk", "1"]).code == "invalid")
        for name in ["gate", "door"] {
            _ = try await hand.value("simulate", [.string(name), "77"])
            #expect(try await client.nextReply()?.command == name)
        }
    }

    @Test func `a reader that is not there is a line of the doctor, and the daemon starts`() async throws {
        let (_, daemon) = try await start([])
        let client = try daemon.connect()
        let report = try await client.value("doctor", [])
        let findings = report.objectValue?["findings"]?.arrayValue?.compactMap(\.objectValue) ?? []
        let says = findings.filter { $0["subject"] == "readers" }.map { $0["says"] }
        #expect(says.contains("'door': there is no input device usb-Sycreader-event-kbd"), "\(report.text)")
        let shown = try await daemon.client("doctor", "readers")
        #expect(shown.exit == .status(1) && shown.output.hasPrefix("readers  error    'desk': "), "\(shown.output)")
        #expect(!shown.output.contains("daemon "), "\(shown.output)")
        #expect(try await daemon.stop() == .status(0))
    }
}
