import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// What the mappings declare of options is what the command objects read, which owners may map without a declaration.
@Suite("Options of shipped commands")
struct OptionTests {
    /// A command, its parameters before the options, wrong options, and what is said of them.
    private static let wrong: [(String, [JSONValue], JSONValue, String)] = [
        (
            "play", ["a.wav", "start", 0], ["volume": 101],
            "/3/volume: expected volume, a number from 0 to 100, per cent"
        ),
        (
            "play", ["a.wav", "start", 0], ["from": -1],
            "/3/from: expected from, a number from 0 to 1000000000, seconds"
        ),
        ("play", ["a.wav", "stop", 0], ["wait": 1], "/3/wait: expected wait, true or false; got the number 1"),
        ("play", ["a.wav"], ["volum": 1], "/1/volum: expected one of volume, from, wait"),
        (
            "rec", ["a.wav"], ["rate": 7999],
            "/1/rate: expected rate, an integer from 8000 to 192000, frames a second; got"
        ),
        ("rec", ["a.wav"], ["channels": 1.5], "/1/channels: expected channels, an integer from 1 to 2, 1 is mono; got"),
        ("rec", ["a.wav"], ["limit": 0], "/1/limit: expected limit, a number from 0.1 to 86400, seconds"),
        ("rec", ["a.wav"], ["gain": -61], "/1/gain: expected gain, a number from -60 to 60, decibels; got"),
        ("rec", ["a.wav"], ["shared": "yes"], "/1/shared: expected shared, true or false; got"),
        ("media", ["read", "a", 0, 1], ["tag": 1], "/4/tag: expected tag, true or false; got"),
        ("media", ["read", "a", 0, 1], ["end": true], "/4/end: expected one of tag"),
        ("media", ["write", "a", 0, ""], ["size": -1], "/4/size: expected size, an integer of at least 0, bytes"),
        ("media", ["write", "a", 0, ""], ["tag": true], "/4/tag: expected one of end, begin, size, shared"),
        ("location", [], ["timeout": -1], "/0/timeout: expected timeout, a number from 0 to 86400000, milliseconds"),
        (
            "location", [], ["maximumAge": "1"],
            "/0/maximumAge: expected maximumAge, a number from 0 to 1000000000000000, "
        ),
        (
            "nearby", ["_http._tcp"], ["timeout": 99],
            "/1/timeout: expected timeout, a number from 100 to 60000, millisec"
        ),
        ("registerHandler", ["a"], ["cancel": 1], "/1/cancel: expected cancel, true or false; got"),
        ("can", ["play", "root"], ["verb": 1], "/2/verb: expected verb, a string of at most 128 characters; got"),
        ("can", ["play", "web:a"], ["groups": ["a", 1]], "/2/groups/1: expected a string; got the number 1"),
        (
            "can", ["play", "web:a"], ["groups": [""]],
            "/2/groups: expected groups, a list of at most 64 strings, each of"
        ),
        ("actFor", ["a"], ["groups": "a"], "/1/groups: expected groups, an array; got"),
        ("actFor", ["a"], ["group": []], "/1/group: expected one of groups"),
    ]

    @Test func `a recording is not named by what it is to do, unless that follows`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        for word in ["start", "stop", "pause"] {
            let reply = try await client.reply("rec", [.string(word)])
            #expect(reply.code == "invalid" && reply.message.contains("as in: rec memo.wav st"), "\(reply)")
        }
        #expect(try await client.reply("rec", ["stop", "stop"]).code == "notFound")
    }

    @Test func `that do not fit are invalid, with their place and what was expected`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        for (command, parameters, options, sentence) in Self.wrong {
            let reply = try await client.reply(command, .array(parameters + [options]))
            #expect(reply.code == "invalid", "\(command) \(options): \(reply)")
            #expect(reply.message.hasPrefix(sentence), "\(command) \(options): \(reply.message)")
        }
        #expect(try await daemon.stop() == .status(0))
    }

    @Test(arguments: ["post", "subscribe", "registerHandler"])
    func `a name has at most 128 bytes`(command: String) async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        for long in [String(repeating: "ü", count: 65), String(repeating: "x", count: 129)] {
            let reply = try await client.reply(command, [.string(long)])
            #expect(reply.code == "invalid" && reply.message.contains("128 bytes; got"), "\(reply)")
        }
        _ = try await client.value(command, [.string(String(repeating: "ü", count: 64))])
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `a handler to which no call may come is a warning, and a post and a subscription say what fits`()
        async throws
    {
        let own = "level: {value: {type: number}}\nring: {business: ['script:ring']}\nnight: {schedule: {every: 1h}}"
        let mappings = try TestFolder.mappings(own, after: ["daemon.yaml"])
        let daemon = try await DaemonProcess(mappings: mappings.path)
        let client = try daemon.connect()
        let hidden = "of the mappings already, so no call comes to this handler: give it another name"
        for (name, warning) in [
            ("Ring", "no mapping uses the handler 'Ring', did you mean 'ring'?"),
            ("level", "'level' is a value \(hidden)"),
            ("night", "'night' is a schedule \(hidden)"),
            ("ping", "'ping' is a command \(hidden), or map the command to script:ping"),
        ] {
            #expect(try await client.value("registerHandler", [.string(name)]) == ["warning": .string(warning)])
        }
        for name in ["ring", "rings"] {
            #expect(try await client.value("registerHandler", [.string(name)]) == .null)
        }
        let post = try await client.reply("post", ["level", 1])
        #expect(post.code == "denied" && post.message.contains("«quickconnect set level VALUE»"), "\(post.message)")
        let subscription = try await client.reply("subscribe", ["level", 20])
        #expect(subscription.message.contains("or options, an object; got the number 20"), "\(subscription.message)")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `at their bounds are taken, and null is nothing`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        let right: [(String, [JSONValue])] = [
            ("location", [["maximumAge": nil, "timeout": 86_400_000, "enableHighAccuracy": nil]]),
            ("location", [["maximumAge": 1e15, "enableHighAccuracy": false]]),
            ("nearby", ["_none._tcp", ["timeout": 100]]),
            ("can", ["play", nil, ["verb": "start", "groups": []]]),
            ("registerHandler", ["mine", ["cancel": nil]]),
            (
                "rec",
                ["a.wav", "start", ["rate": 8000.0, "channels": 2, "gain": -60, "limit": 86_400, "shared": true]]
            ),
            ("rec", ["a.wav", "stop"]), ("play", ["a.wav", ["volume": 0, "from": 0, "wait": nil]]),
            ("media", ["write", "b", 0, "eA==", ["end": true, "begin": true, "size": 1, "shared": false]]),
            ("media", ["read", "b", 0, 1, ["tag": true]]),
        ]
        for (command, parameters) in right {
            let reply = try await client.reply(command, .array(parameters))
            #expect(reply.code == nil, "\(command) \(parameters): \(reply)")
        }
        #expect(try await daemon.stop() == .status(0))
    }
}
