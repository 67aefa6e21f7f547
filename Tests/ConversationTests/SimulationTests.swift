import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("What simulated sensors feel, moved by hand", .serialized)
struct SimulationTests {
    @Test func `a tilt is what accel and its subscribers get, until it follows its track again`() async throws {
        let daemon = try await DaemonProcess()
        let (person, watcher) = (try daemon.connect(), try daemon.connect())
        #expect(try await person.ask("call?cmd=simulate&id=1")?.contains("default") == true)
        _ = try await watcher.ask(#"{"handlerName":"subscribe","data":["accel",{"rate":1}],"callbackId":"1"}"#)
        try await eventually(watcher, "z") { abs($0 - 1) < 0.05 }
        let set = try await person.ask(
            #"{"handlerName":"simulate","data":["tilt",{"roll":90,"pitch":0}],"callbackId":"1"}"#
        )
        #expect(try #require(set).contains(#"{"roll":90.0,"pitch":0.0}"#))
        try await eventually(watcher, "x") { $0 > 0.999 }
        // A device with its top edge down.
        _ = try await person.ask(#"{"handlerName":"simulate","data":["tilt",{"roll":0,"pitch":-30}],"callbackId":"1"}"#)
        let answer = try #require(try await person.ask(#"{"handlerName":"accel","callbackId":"1"}"#))
        let value = try JSONParser.parse(answer)
        let data = try #require(value.objectValue?["responseData"]?.objectValue)
        #expect(data["x"]?.numberValue == 0 && data["y"]?.numberValue == -0.5)
        #expect(abs((data["z"]?.numberValue ?? 0) - 0.866025) < 0.000_001)
        #expect(try await daemon.client("doctor").output.contains("the simulated motion, held by hand"))
        _ = try await person.ask(#"{"handlerName":"simulate","data":["tilt","default"],"callbackId":"1"}"#)
        try await eventually(watcher, "z") { abs($0 - 1) < 0.05 }
        #expect(try await daemon.stop() == .status(0))
    }

    @Test(.measured) func `its subscribers get a tilt at once, and not with the next value`() async throws {
        let daemon = try await DaemonProcess()
        let (person, watcher) = (try daemon.connect(), try daemon.connect())
        _ = try await watcher.ask(#"{"handlerName":"subscribe","data":["accel",{"rate":1}],"callbackId":"1"}"#)
        // The next one of the track is a second away.
        try await eventually(watcher, "z") { abs($0 - 1) < 0.05 }
        _ = try await person.ask(#"{"handlerName":"simulate","data":["tilt",{"roll":90,"pitch":0}],"callbackId":"1"}"#)
        let begin = ContinuousClock.now
        try await eventually(watcher, "x") { $0 > 0.999 }
        #expect(ContinuousClock.now - begin < .milliseconds(900))
        #expect(try await daemon.stop() == .status(0))
    }

    private func eventually(_ client: SocketClient, _ axis: String, _ fits: (Double) -> Bool) async throws {
        while true {
            let message = try #require(try await client.nextMessage())
            if let value = message["data"]?.objectValue?[axis]?.numberValue, fits(value) { return }
        }
    }

    @Test func `a position stays where it is put, and a track of the media folder moves it`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        let put = try await daemon.client("simulate", "position", "-33.8", "-70.5")
        #expect(put.exit == .status(0) && put.output == #"{"latitude":-33.8,"longitude":-70.5}"# + "\n")
        let place = try await client.ask(#"{"handlerName":"loc","callbackId":"1"}"#)
        #expect(place?.contains("[-33.8,-70.5,null,") == true)
        #expect(try await daemon.client("simulate", "position", "47.42", "10.98", "2962").exit == .status(0))
        #expect(try await daemon.client("call", "loc").output.hasPrefix("[47.42,10.98,2962.0,"))

        let together = try daemon.startClient(["simulate", "tilt", "30,0"])
        #expect(try await together.wait() == .status(2))
        #expect(together.errors.contains("«quickconnect simulate tilt 30 0»"), "\(together.errors)")

        let folder = try TestFolder()
        try folder.write(#"{"class":"TPV","mode":2,"lat":1.5,"lon":2.5}"# + "\n", to: "way.json")
        #expect(try await daemon.client("media", "put", folder("way.json")).exit == .status(0))
        #expect(try await daemon.client("simulate", "position", "way.json").output == #"{"track":"way.json"}"# + "\n")
        #expect(try await daemon.client("call", "loc").output.hasPrefix("[1.5,2.5,"))
        #expect(try await daemon.client("simulate").output.contains(#""position":{"track":"way.json"}"#))
        #expect(try await daemon.client("simulate", "position", "default").output.contains("default"))
        #expect(try await daemon.client("call", "loc").output.hasPrefix("[51."))
        #expect(try await daemon.stop() == .status(0))
    }

    @Test(arguments: [
        (["position", "91", "0"], 1, "latitude, a number from -90 to 90"), (["tilt", "1"], 2, "tilt takes roll pitch"),
        (["tilt", "1", "nan"], 2, "The pitch is a number, not 'nan'"),
        (["speed", "1"], 2, "There is no 'speed' to move"),
        (["tilt", "none.json"], 1, "there is no file 'none.json' in the media folder"),
        (["tilt", "../../etc/passwd"], 1, "a name below the media folder"),
    ])
    func `what makes no sense is told`(words: [String], status: Int32, message: String) async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.startClient(["simulate"] + words)
        #expect(try await client.wait() == .status(status))
        let says = String(decoding: client.standardError, as: UTF8.self)
        #expect(says.contains(message), "\(says)")
        #expect(
            try await daemon.client("simulate").output.contains(#"{"tilt":{"track":"default"},"#),
            "nothing has moved"
        )
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `wrong values get the field and what was expected`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        for (value, field) in [
            (#"["tilt",{"roll":1}]"#, "/1/pitch"), (#"["tilt",{"roll":1,"pitch":0,"yaw":3}]"#, "/1/yaw"),
            (#"["tilt",3]"#, "/1"), (#"["speed"]"#, "/0"),
            (#"["position",{"latitude":"1","longitude":2}]"#, "/1/latitude"),
        ] {
            let reply = try #require(
                try await client.ask(#"{"handlerName":"simulate","data":\#(value),"callbackId":"1"}"#)
            )
            #expect(reply.contains("invalid") && reply.contains("\"\(field)\""), "\(reply)")
        }
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `a track with a wrong line is refused with its name and the line, and nothing moves`() async throws {
        let mappings = try TestFolder.mappings(
            """
            push: {value: {type: boolean, gpio: {line: GPIO17}}}
            warmth: {value: {type: number, sensor: {chip: cpu_thermal, input: temp1}}}
            remote: {event: {keys: {device: usb-remote-event-kbd, names: {KEY_STOP: stop}}}}

            """
        )
        let daemon = try await DaemonProcess(mappings: mappings.path)
        let client = try daemon.connect()
        func message(_ what: String, _ track: String...) async throws -> String {
            let data = JSONValue.string(Data(track.joined(separator: "\n").utf8).base64EncodedString())
            _ = try await client.value("media", ["write", "track.json", 0, data, ["end": true]])
            let reply = try await client.reply("simulate", [.string(what), "track.json"])
            #expect(reply.code == "invalid")
            return reply.message
        }
        let first = #"{"time": 0, "value": true}"#
        #expect(
            try await message("push", "# a press", first, #"{"time": 1, "value": 7}"#)
                == "track.json is no track of 'push': it has a value in line 3 that does not fit: expected true or false, got the number 7"
        )
        #expect(try await message("push", first, first).contains("a time in line 2 that is not later"))
        #expect(try await message("warmth", #"{"time": 0, "valu": 2}"#).contains("no moment in line 1: it needs {"))
        #expect(try await message("warmth", "").contains("no moment in it: it needs lines such as"))
        let lying = #"{"time": 0, "x": 0, "y": 0, "z": 1}"#
        #expect(try await message("tilt", lying, "{").contains("is no track of 'tilt': it has no moment in line 2"))
        let here = #"{"class":"TPV","mode":3,"lat":51.5,"lon":-0.12}"#
        #expect(try await message("position", here, lying).contains("has no line of gpsd in line 2"))
        let nowhere = #"{"class":"TPV","mode":2,"lat":91,"lon":0}"#
        #expect(try await message("position", here, "", nowhere).contains("has no position in line 3"))
        // A word that is neither a value nor a track, and a key that the device has not.
        let warm = try await client.reply("simulate", ["warmth", "warm"])
        #expect(warm.message.contains("expected value, a number, or the name of a track in the media folder"))
        let key = try await client.reply("simulate", ["remote", "fly"])
        #expect(key.message == #"/1/key: expected key, one of "stop"; got the string "fly""#)
        let all = try await client.value("simulate", []).objectValue
        #expect(all?["tilt"] == ["track": "default"] && all?["position"] == ["track": "default"])
        #expect(all?["push"] == false)
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `without simulation there is no such command, whatever the owner's files say of it`() async throws {
        let mappings = try TestFolder.mappings("simulate: {allow: {users: [daemon]}}\n")
        let daemon = try await DaemonProcess([], mappings: mappings.path)
        #expect(try await daemon.connect().ask("call?cmd=simulate&id=1")?.contains("unknownCommand") == true)
        #expect(try await daemon.client("call", "commands").output.contains("\"simulate\"") == false)
        #expect(try await daemon.stop() == .status(0))
    }
}
