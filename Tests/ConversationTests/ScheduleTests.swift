import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("Declared events and schedules")
struct ScheduleTests {
    private static let mapping = """
        ping: {parameters: [], view: []}
        post: {parameters: [{name: name, type: string}, {name: data, type: any, optional: true}], business: [PostBCO]}
        subscribe: {business: [SubscribeBCO]}
        reload: {business: [ReloadBCO]}
        state: {business: [StateBCO]}
        explain: {parameters: [{name: command, type: string}], business: [ExplainBCO]}
        commands: {business: [CommandsBCO]}
        can: {parameters: [{name: command, type: string}, {name: user, type: string, optional: true}, {name: options, type: object, optional: true}], business: [CanBCO]}
        doctor: {parameters: [{name: what, type: string, optional: true}], business: [DoctorBCO]}
        location: {business: [LocationBCO]}
        bell: {help: The bell., event: {type: object, last: true}, post: {users: [root]}}
        level: {event: {type: integer, minimum: 0, maximum: 9}, post: {users: [root]}}
        door: {event: {type: string}}
        press: {event: {type: object, members: {button: {type: integer}, door: {type: string}}}, post: {users: [root]}}
        scene: {value: {type: object, members: {name: {type: string}}}}
        lamp: {value: {type: boolean, led: led0}, set: {users: ["schedule:night"]}}
        night: {help: Dark at ten., schedule: {at: "22:00"}, call: [lamp, true]}
        tick: {schedule: {every: 10s}, call: [ping], set: {users: [nobody]}}
        broken: {schedule: {at: "03:00", dates: [1]}, call: [registered, 1]}
        """

    private func mappings(_ more: String = "") throws -> TestFolder {
        try TestFolder.mappings(Self.mapping + "\n" + more, after: [])
    }

    @Test func `a schedule is warned of whose procedure has no file`() async throws {
        let config = try TestFolder()
        try FileManager.default.createDirectory(atPath: config("procedures"), withIntermediateDirectories: false)
        try config.write("function execute(done) { done(1) }", to: "procedures/monthly.js")
        let own = """
            execute: {business: ["script:execute"], allow: {users: ["schedule:good", "schedule:slip"]}}
            good: {schedule: {every: 1h}, call: [execute, monthly]}
            slip: {schedule: {every: 1h}, call: [execute, montly]}
            """
        let mappings = try mappings(own)
        let environment = ["CONFIGURATION_DIRECTORY": config.path]
        let daemon = try await DaemonProcess(mappings: mappings.path, environment: environment)
        let answer = try await daemon.connect().value("reload", []).objectValue
        let told = answer?["warnings"]?.arrayValue?.compactMap(\.stringValue).filter { $0.contains("procedure") } ?? []
        #expect(told.count == 1 && told.first?.contains("the schedule 'slip': ") == true, "\(told)")
        #expect(told.first?.hasSuffix("have no procedure 'montly', did you mean 'monthly'?") == true, "\(told)")
    }

    @Test func `an event is posted by those whom its rule names, if its data fits, and its last one is kept`()
        async throws
    {
        let mappings = try mappings()
        let daemon = try await DaemonProcess(mappings: mappings.path)
        let client = try daemon.connect()
        let subscriber = try daemon.connect()
        _ = try await subscriber.value("subscribe", ["bell", "level"])
        #expect(try await client.value("bell", []) == .null)
        #expect(try await client.value("post", ["bell", ["a": 1]]) == .null)
        #expect(try await subscriber.nextReply()?.value == ["a": 1])
        #expect(try await client.value("bell", []) == ["a": 1])
        #expect(try await client.value("post", ["level", 9]) == .null)
        #expect(try await subscriber.nextReply()?.value == 9)
        // Without «last» it is told and forgotten.
        #expect(try await client.value("level", []) == .null)
        let wrong = try await client.reply("post", ["level", 10])
        #expect(wrong.code == "invalid")
        #expect(wrong.message == "/1: expected data, an integer from 0 to 9; got the number 10")
        #expect(try await client.reply("post", ["bell"]).code == "invalid")
        #expect(try await client.reply("bell", [1]).code == "invalid")
        let pressed = try await client.reply("post", ["press", ["button": "two", "door": 3]])
        #expect(
            pressed.message
                == "/1/button: expected button, an integer; got the string \"two\"; /1/door: expected door, a string; got the number 3"
        )
        #expect(try await client.reply("scene", [["nam": "a"]]).message.hasPrefix("/0/nam: expected one of name;"))
        let door = try await client.reply("post", ["door", "open"])
        #expect(door.code == "denied" && door.message.contains("«door: {post: {users: [NAME]}}»"), "\(door.message)")
        #expect(try await client.reply("post", ["night", ["planned": 1]]).code == "denied")
        #expect(try await client.reply("post", ["lamp", true]).code == "denied")
        // What nobody declares goes on as it is.
        #expect(try await client.value("post", ["doorbell", 1]) == .null)
        for (event, isAllowed) in [("bell", true), ("door", false)] {
            let rights = try await client.value("can", [.string(event)]).objectValue
            #expect(rights?["allowed"] == true && rights?["verbs"] == ["post": .bool(isAllowed)])
            let posting = try await client.value("can", [.string(event), nil, ["verb": "post"]]).objectValue
            #expect(posting?["allowed"] == .bool(isAllowed))
        }
        let explained = try await client.value("explain", ["bell"]).objectValue
        #expect(explained?["event"] == ["type": "object", "last": true])
        #expect(explained?["post"]?.objectValue?["rule"] == "user root")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `a schedule runs when asked, as a caller of its own, and says how that ended`() async throws {
        let mappings = try mappings()
        let daemon = try await DaemonProcess(mappings: mappings.path)
        let client = try daemon.connect()
        let subscriber = try daemon.connect()
        _ = try await subscriber.value("subscribe", ["night"])
        let before = try await client.value("night", []).objectValue
        #expect(before?["last"] == .null && before?["result"] == .null)
        let next = try #require(before?["next"]?.integerValue)
        #expect(next > Int64(Date().timeIntervalSince1970 * 1000) && next % 1000 == 0)
        // Nobody but the schedule sets the lamp: root may, of course.
        let after = try await client.value("night", ["run"]).objectValue
        #expect(after?["result"] == "ok" && after?["last"]?.integerValue ?? 0 > 0)
        #expect(try await client.value("lamp", []) == true)
        let audited = #/^audit: command=lamp allowed=yes outcome=ok seconds=[\d.]+ gateway=schedule user=night /#
        try await eventually("its call is in the audit") { daemon.auditLines.contains { $0.contains(audited) } }
        let event = try await subscriber.nextReply()?.value.objectValue
        #expect(event?["missed"] == false && event?["planned"] == after?["last"])
        // What no client has registered.
        #expect(try await client.value("broken", ["run"]).objectValue?["result"] == "unknownCommand")
        try await eventually("it is logged") { daemon.log.contains("the call of the schedule 'broken' failed") }
        #expect(try await client.reply("night", ["now"]).code == "invalid")
        let state = try await client.value("state", []).objectValue?["schedules"]?.objectValue
        #expect(state?.map(\.name) == ["broken", "night", "tick"])
        #expect(state?["night"] == .object(try #require(after)))
        let explained = try await client.value("explain", ["night"]).objectValue
        #expect(explained?["schedule"] == ["at": "22:00", "missed": "skip", "call": ["lamp", true]])
        #expect(explained?["set"]?.objectValue?["rule"] == "root only")
        let allowed = try await client.value("can", ["lamp", "schedule:night", ["verb": "set"]]).objectValue
        #expect(allowed?["allowed"] == true)
        let refused = try await client.value("can", ["lamp", "schedule:tick", ["verb": "set"]]).objectValue
        #expect(refused?["allowed"] == false)
        // The schedule is no user that may run schedules, and `run` is what its call would say.
        for verb in ["run", "set"] {
            let runs = try await client.value("can", ["night", "schedule:tick", ["verb": .string(verb)]]).objectValue
            #expect(runs?["allowed"] == false && runs?["code"] == "denied", "\(verb)")
        }
        #expect(try await client.value("can", ["night", nil, ["verb": "run"]]).objectValue?["allowed"] == true)
        #expect(try await client.value("can", ["night"]).objectValue?["verbs"] == ["run": true])
        #expect(try await client.value("can", ["night", "schedule:tick"]).objectValue?["verbs"] == ["run": false])
        let words = [
            ("night", "'night' is a schedule, not a value; on('night', …) hears it"),
            ("bell", "'bell' is an event, not a value; on('bell', …) hears it"),
        ]
        for (name, sentence) in words {
            let refusal = try await client.failure("subscribe", [.string(name), ["value": true]])
            #expect(refusal["code"] == "notFound" && refusal["message"]?.stringValue == sentence)
        }
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `a schedule runs by itself, not before its second, and a restart remembers`() async throws {
        let (mappings, state) = (try mappings(), try TestFolder())
        let flags = ["--simulate", "--media", state("media")]
        let daemon = try await DaemonProcess(flags, mappings: mappings.path)
        let subscriber = try daemon.connect()
        _ = try await subscriber.value("subscribe", ["tick"])
        let event = try await subscriber.nextReply()?.value.objectValue
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let planned = try #require(event?["planned"]?.integerValue)
        #expect(planned % 10_000 == 0 && now >= planned, "\(planned - now) ms early")
        let client = try daemon.connect()
        // The event comes when its call begins.
        try await eventually("its call has ended") {
            try await client.value("tick", []).objectValue?["result"] == "ok"
        }
        #expect(try await daemon.stop() == .status(0))
        let again = try await DaemonProcess(flags, mappings: mappings.path)
        let last = try await again.connect().value("tick", []).objectValue?["last"]?.integerValue
        #expect(last ?? 0 >= planned)
        #expect(try await again.stop() == .status(0))
    }

    @Test func `a reload adds and removes schedules, and a damaged file keeps none from starting`() async throws {
        let (mappings, state) = (try mappings(), try TestFolder())
        try state.write("rubbish", to: "schedules.json")
        let daemon = try await DaemonProcess(["--simulate", "--media", state("media")], mappings: mappings.path)
        let client = try daemon.connect()
        let next = try await client.value("night", []).objectValue?["next"]
        try mappings.write("dusk: {schedule: {at: sunset}}", to: "more.yaml")
        _ = try await client.value("reload", [])
        #expect(try await client.value("night", []).objectValue?["next"] == next)
        // The position is simulated.
        try await eventually("the sun sets") {
            try await client.value("dusk", []).objectValue?["next"]?.integerValue != nil
        }
        try mappings.remove("more.yaml")
        _ = try await client.value("reload", [])
        #expect(try await client.reply("dusk", []).code == "unknownCommand")
        let findings = try await client.value("doctor", []).objectValue?["findings"]?.arrayValue ?? []
        // The rule of «lamp» names a schedule, which is no gateway without a socket.
        #expect(!findings.contains { $0.objectValue?["subject"] == "gateways" }, "\(findings)")
        let schedules = findings.compactMap(\.objectValue).filter { $0["subject"] == "schedules" }
        #expect(schedules.map { $0["state"] } == ["ok"])
        #expect(schedules.first?["says"]?.stringValue?.hasPrefix("3 schedules; the next is tick") ?? false)
        _ = try await client.value("broken", ["run"])
        let failed = DoctorReport(try await client.value("doctor", []))?.findings.filter { $0.subject == "schedules" }
        #expect(failed?.map(\.state) == [.warning])
        let says = failed?.first?.says ?? ""
        #expect(says.contains(#/^the last run of 'broken', at .+, failed: unknownCommand$/#), "\(says)")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `what is kept goes with the last schedule, and a call leaves nothing behind`() async throws {
        let (mappings, state) = (try mappings(), try TestFolder())
        let flags = ["--simulate", "--media", state("media")]
        let daemon = try await DaemonProcess(flags, mappings: mappings.path)
        let client = try daemon.connect()
        // Each run has a connection of its own, which is closed.
        for _ in 0..<20 { _ = try await client.value("night", ["run"]) }
        try await eventually("they are closed") {
            try await client.value("state", []).objectValue?["memory"]?.objectValue?["used"]?.integerValue ?? 0 < 4096
        }
        #expect(try await daemon.stop() == .status(0))
        #expect(String(decoding: try state.data("schedules.json"), as: UTF8.self).contains("night"))
        // The place of a simulated receiver is nobody's.
        #expect(!String(decoding: try state.data("schedules.json"), as: UTF8.self).contains("place"))
        try mappings.write("ping: {parameters: [], view: []}", to: "zz-test.yaml")
        let without = try await DaemonProcess(flags, mappings: mappings.path)
        #expect(try await without.stop() == .status(0))
        #expect(!String(decoding: try state.data("schedules.json"), as: UTF8.self).contains("night"))
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can connect as another user"))
    func `a stranger may look and not run, unless a rule names it`()
        async throws
    {
        let mappings = try mappings()
        let daemon = try await DaemonProcess(mappings: mappings.path)
        let stranger = try daemon.stranger()
        #expect(try await stranger.value("night", []).objectValue?["next"]?.integerValue != nil)
        let refused = try await stranger.reply("night", ["run"])
        #expect(refused.code == "denied")
        #expect(refused.message.hasPrefix("running night is allowed to root only"), "\(refused.message)")
        #expect(try await stranger.value("tick", ["run"]).objectValue?["result"] == "ok")
        #expect(try await stranger.reply("post", ["bell", [:]]).code == "denied")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `people get a table`() async throws {
        let mappings = try mappings()
        let daemon = try await DaemonProcess(mappings: mappings.path)
        let table = try await daemon.client("schedules")
        #expect(table.exit == .status(0))
        let lines = table.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.first == "SCHEDULE NEXT LAST RESULT RUNS" && lines.count == 4)
        #expect(lines.contains { $0.hasPrefix("night ") && $0.hasSuffix("22:00 - - at 22:00") }, "\(table.output)")
        let explained = try await daemon.client("explain", "night")
        #expect(explained.output.contains("run by") && explained.output.contains("lamp true"), "\(explained.output)")
        let event = try await daemon.client("explain", "bell")
        #expect(event.output.contains("posted by") && event.output.contains("a call returns the last one"))
        #expect(try await daemon.stop() == .status(0))
    }
}
