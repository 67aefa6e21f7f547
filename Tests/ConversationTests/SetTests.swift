import JSON
import TestRig
import Testing

@Suite("quickconnect set")
struct SetTests {
    private typealias Ended = (exit: ChildProcess.Exit, output: String, errors: String)

    private func client(_ daemon: DaemonProcess, _ words: String...) async throws -> Ended {
        try await client(daemon, words)
    }

    private func client(_ daemon: DaemonProcess, _ words: [String]) async throws -> Ended {
        let child = try daemon.startClient(words)
        let exit = try await child.wait()
        return (
            exit, String(decoding: child.standardOutput, as: UTF8.self),
            String(decoding: child.standardError, as: UTF8.self)
        )
    }

    private func daemon(_ more: String = "") async throws -> DaemonProcess {
        let mappings = try TestFolder.mappings(
            """
            sign: {value: {type: string, maxLength: 20}}
            level: {value: {type: number, minimum: 0, maximum: 10, clamp: true}}
            lists: {value: {type: array}}
            free: {value: {type: number, default: 1e308}}
            ping: {parameters: [], view: []}
            explain: {business: [ExplainBCO]}

            """ + more,
            after: []
        )
        let daemon = try await DaemonProcess(mappings: mappings.path)
        return withExtendedLifetime(mappings) { daemon }
    }

    @Test(
        arguments: [
            (["hello"], #""hello""#), (["hello", "world"], #""hello world""#), (["12"], #""12""#), ([""], #""""#),
            (["[1]"], #""[1]""#), (["null"], #""null""#), (["--", "-5"], #""-- -5""#), (["true"], #""true""#),
        ]
    )
    func `a text is what is typed`(words: [String], answer: String) async throws {
        let daemon = try await daemon()
        let set = try await client(daemon, ["set", "sign"] + words)
        #expect(set.output == "\(answer)\n", "\(set)")
        #expect(try await client(daemon, "call", "sign").output == "\(answer)\n")
    }

    @Test func `a text that begins with an equals sign is set, with a note`() async throws {
        let daemon = try await daemon()
        let set = try await client(daemon, "set", "sign", "=", "two words")
        #expect(set.exit == .status(0) && set.output == "\"= two words\"\n")
        #expect(
            set.errors == "quickconnect: the text begins with «=»; without it: «quickconnect set sign 'two words'»\n"
        )
        #expect(try await client(daemon, "set", "sign", "= x").errors.isEmpty)
    }

    @Test func `add adds in one step, within the bounds, and only to numbers`() async throws {
        let daemon = try await daemon()
        #expect(try await client(daemon, "add", "level").output == "1\n")
        #expect(try await client(daemon, "add", "level", "0.1").output == "1.1\n")
        #expect(try await client(daemon, "add", "level", "0.2").output == "1.3\n")
        #expect(try await client(daemon, "add", "level", "-0.1").output == "1.2\n")
        #expect(try await client(daemon, "add", "level", "99").output == "10\n")
        #expect(try await client(daemon, "add", "sign", "1").errors.contains("only a number can be added to"))
        #expect(try await client(daemon, "add", "level", "high").exit == .status(2))
        let command = try await client(daemon, "add", "ping", "5")
        #expect(command.exit == .status(2) && command.errors.contains("'ping' is a command and no value"), "\(command)")
        // What no number can be is refused, and the value stays.
        #expect(try await client(daemon, "add", "free", "1e308").errors.contains("an amount by which 1e+308 becomes"))
        #expect(try await client(daemon, "call", "free").output == "1e+308\n")
        let both = try await client(daemon, "call", "level", "3", #"{"add": 1}"#)
        #expect(both.errors.contains("null, because the option add is given"), "\(both)")
        let wrong = try await client(daemon, "call", "level", #"{"ad": 1}"#)
        #expect(wrong.errors.contains("did you mean 'add'?"), "\(wrong)")
        #expect(try await client(daemon, "call", "level").output == "10\n")
    }

    @Test func `twenty who count at once lose nothing, and a limit is said`() async throws {
        let mappings = try TestFolder.mappings("people: {value: {type: integer, maximum: 420}}", after: [])
        let daemon = try await DaemonProcess(mappings: mappings.path)
        defer { withExtendedLifetime(mappings) {} }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let client = try daemon.connect()
                    for _ in 0..<20 { _ = try await client.value("people", [.null, ["add": 1]]) }
                }
            }
            try await group.waitForAll()
        }
        let client = try daemon.connect()
        #expect(try await client.value("people", []) == 400)
        #expect(try await client.value("people", [["add": 20]]) == 420)
        for (field, parameters) in [("/1/add", [.null, ["add": 1]]), ("/0/add", [["add": 1]])]
            as [(String, [JSONValue])]
        {
            let error = try await client.failure("people", .array(parameters))
            let sentence = "expected an amount by which 420 becomes an integer of at most 420; got the number 1"
            #expect(error["message"]?.stringValue == "\(field): \(sentence)" && error["code"] == "invalid", "\(error)")
        }
        #expect(try await client.failure("people", [.null, ["add": 0.5]])["code"] == "invalid")
        // What JSON makes of a number that is none.
        #expect(try await client.failure("people", [.null, ["add": .null]])["code"] == "invalid")
        #expect(try await client.value("people", []) == 420)
    }

    @Test func `who may only read a value may neither set it nor add to it, and can says so`() async throws {
        let mappings = try TestFolder.mappings(
            "people: {value: {type: integer}, set: {users: [nobody]}}\ncan: {business: [CanBCO]}",
            after: []
        )
        let daemon = try await DaemonProcess(mappings: mappings.path)
        defer { withExtendedLifetime(mappings) {} }
        let client = try daemon.connect()
        for verb in ["set", "1", "true"] {
            let answer = try await client.value("can", ["people", "schedule:tick", ["verb": .string(verb)]]).objectValue
            #expect(answer?["allowed"] == false && answer?["code"] == "denied", "\(verb): \(answer ?? [:])")
        }
        #expect(try await client.value("can", ["people", "schedule:tick"]).objectValue?["allowed"] == true)
    }

    @Test func `any other value is JSON, and what is no value says so`() async throws {
        let daemon = try await daemon()
        #expect(try await client(daemon, "set", "level", "99").output == "10\n")
        #expect(try await client(daemon, "set", "lists", "[1, 2]").output == "[1,2]\n")
        #expect(try await client(daemon, "set", "level", "high").errors.contains("got the string"))
        let noJSON = try await client(daemon, "set", "lists", "[{card: 1}]").errors
        #expect(noJSON.hasPrefix("quickconnect: «[{card: 1}]» is no JSON, so it is sent as text: a shell"), "\(noJSON)")
        #expect(try await client(daemon, "set", "level", "1", "2").exit == .status(2))
        #expect(try await client(daemon, "set", "level", "null").exit == .status(2))
        #expect(try await client(daemon, "set", "level").errors.contains("«quickconnect call level»"))
        #expect(try await client(daemon, "set", "level=5").errors.contains("«quickconnect set level 5»"))
        let usage = try await client(daemon, "set")
        #expect(usage.exit == .status(2))
        #expect(usage.errors.hasPrefix("quickconnect: NAME is missing.\nUsage: quickconnect set [--socket"), "\(usage)")
        #expect(usage.errors.hasSuffix("  See 'quickconnect set --help' for more information.\n"), "\(usage)")
        // The tool finds this mistake by itself: this daemon has no command 'simulate' that would say what there is to move.
        let other = try await client(daemon, "simulate", "tilt", "1")
        #expect(other.errors.contains("See 'quickconnect simulate --help' for more information."), "\(other)")
        let absent = try await client(daemon, "simulate", "tilt", "1", "2")
        #expect(absent.errors.hasSuffix("«quickconnectd --simulate», or simulate: true in its settings\n"), "\(absent)")
        let command = try await client(daemon, "set", "ping", "1")
        #expect(
            command.exit == .status(2)
                && command.errors.contains("is a command and no value: «quickconnect call ping 1»")
        )
        #expect(try await client(daemon, "set", "sing", "x").errors.contains("did you mean 'ping' or 'sign'"))
    }

    @Test func `an advice is a line that works, by the kind of the entry`() async throws {
        let daemon = try await daemon(
            """
            post: {parameters: [{name: name, type: string}, {name: data, type: any}], business: [PostBCO]}
            press: {event: {type: object}, post: {users: [root]}}
            door: {event: {reader: {device: usb-reader-event-kbd}}}
            a=1: {value: {type: integer}}
            night: {schedule: {at: "22:00"}}
            warmth: {value: {type: number, sensor: {chip: cpu_thermal, input: temp1}}}
            lamp: {value: {type: boolean, gpio: {line: L1, output: true}}}
            fan: {value: {type: number, pwm: {chip: pwmchip0, channel: 0}}}
            rooms: {value: {type: array, items: {type: string}}}
            simulate: {business: [SimulateBCO]}

            """
        )
        let name = "quickconnect"
        for (words, line) in [
            (["add", "level=5"], "\(name) add level 5"), (["add", "level=high"], "\(name) add level 1"),
            (["add", "level", "high"], "\(name) add level 1"), (["set", "level = 5"], "\(name) set level 5"),
            (["add", "sign=5"], "\(name) explain sign"), (["add", "door", "1"], "\(name) explain door"),
            (["add", "night"], "\(name) explain night"), (["add", "warmth", "1"], "\(name) call warmth"),
            (["set", "press", #"{"a":1}"#], #"\#(name) call post press '{"a":1}'"#),
            (["set", "door", "12"], "\(name) explain door"), (["set", "night=run"], "\(name) call night run"),
            (["call", "level=5"], "\(name) call level 5"), (["call", "level = 5"], "\(name) call level 5"),
            (["simulate", "warmth=30"], "\(name) simulate warmth 30"),
            (["simulate", "level", "3"], "\(name) call level 3"),
            (["set", "level", "5", "--timeout", "9"], "\(name) set --timeout 9 level 5"),
            (["set", "level", "=", "5"], "\(name) set level 5"), (["add", "level", "=", "5"], "\(name) add level 5"),
            (["call", "level", "=", "5"], "\(name) call level 5"),
            (["call", "lamp", "200", "100"], "\(name) call lamp '[[200,100]]'"),
            (["call", "lamp", "[200,100,200]"], "\(name) call lamp '[[200,100,200]]'"),
            (["call", "lists", "[1,{}]"], "\(name) call lists '[[1,{}]]'"),
            (["call", "rooms", #"["a"]"#], #"\#(name) call rooms '[["a"]]'"#),
            (["call", "set", "level", "5"], "\(name) set level 5"), (["call", "get", "level"], "\(name) call level"),
            (["call", "set", "lamp", "true", #"{"for":"5s"}"#], #"\#(name) call lamp true '{"for":"5s"}'"#),
            (["set", "lamp", "true", #"{"for":"5s"}"#], #"\#(name) call lamp true '{"for":"5s"}'"#),
        ] {
            let told = try await client(daemon, words)
            #expect(told.exit != .status(0) && told.errors.contains("«\(line)»"), "\(words): \(told.errors)")
            let typed = line.replacing("'", with: "").split(separator: " ").dropFirst().map(String.init)
            let works = try await client(daemon, typed)
            #expect(works.exit == .status(0), "\(line): \(works.errors)")
        }
        // What is in the list would not fit.
        #expect(!(try await client(daemon, "call", "rooms", "[1]").errors.contains("«")))
        // Pulses take no pattern.
        #expect(!(try await client(daemon, "call", "fan", "20", "30").errors.contains("a pattern")))
        #expect(try await client(daemon, "call", "lamp", "[0,100]").errors.contains("each from 1 to 10000 ms"))
        #expect(try await client(daemon, "call", "sign", "").output == "\"\"\n")
        #expect(try await client(daemon, "call", "level", "1e400").errors.contains("'1e400' is too large"))
        // A decimal comma, and a unit.
        #expect(try await client(daemon, "set", "level", "2,5").errors.contains("'2,5' is no number, but 2.5 is."))
        #expect(try await client(daemon, "call", "level", "2,5").errors.contains("'2,5' is no number, but 2.5 is."))
        #expect(try await client(daemon, "set", "level", "7°C").errors.contains("'7°C' is no number, but 7 is"))
        #expect(try await client(daemon, "add", "level", "2,5").errors.contains("'2,5' is no number, but 2.5 is."))
        for verb in ["set", "add"] {
            for text in ["2,5", "2.5cm"] {
                #expect(try await client(daemon, verb, "a=1", text).errors.contains("'\(text)' is no whole number."))
            }
        }
        #expect(
            try await client(daemon, "simulate", "tilt", "2,5", "0").errors.contains("'2,5' is no number, but 2.5 is.")
        )
        let torn = try await client(daemon, "call", "post", "press", "{way:", "out}").errors
        #expect(torn.contains("«{way:» is no JSON") && torn.contains("put '…' around JSON"), "\(torn)")
        let first = try await client(daemon, "set", "3", "level").errors
        #expect(first.contains("NAME comes first: «quickconnect set level 3»"), "\(first)")
        #expect(try await client(daemon, "add", "3", "level").errors.contains("«quickconnect add level 3»"))
        // Neither is a unit.
        for text in ["0x10", "1,2,3"] {
            let told = try await client(daemon, "set", "level", text).errors
            #expect(told.contains("got the string \"\(text)\""), "\(told)")
        }
        #expect(try await client(daemon, "set", "level", "1e400").errors.contains("'1e400' is too large"))
        #expect(try await client(daemon, "set", "level", "--", "-5").output == "0\n")
        #expect(try await client(daemon, "add", "level", "--", "2").output == "2\n")
        #expect(try await client(daemon, "add", "a=1").output == "1\n")
        #expect(try await client(daemon, "add", "a=1", "\(Int64.max)").errors.contains("becomes an integer of 64 bits"))
        let typed = try await client(daemon, "simulate", "door", "12", "34").errors
        #expect(typed.contains("door takes one text: «quickconnect simulate door '12 34'»."), "\(typed)")
        let near = try await client(daemon, "simulate", "dor", "1").errors
        #expect(near.contains("did you mean 'door'?\n"), "\(near)")
        // A mistake inside of an object is no text that was taken for JSON.
        let inside = try await client(daemon, "call", "post", "press", "7")
        #expect(inside.errors.hasPrefix("quickconnect: invalid: /1: expected data, an object"), "\(inside)")
    }

    @Test func `what was meant is said where a user stands as a verb, and where no script runs`() async throws {
        let daemon = try await DaemonProcess()
        let user = try await client(daemon, "can", "reload", "web:ann")
        #expect(user.exit == .status(2) && user.errors.contains("To ask for that user: --as web:ann"), "\(user)")
        let absent = try await client(daemon, "call", "macro", "list")
        #expect(absent.errors.hasSuffix("all handlers\n"), "\(absent)")
    }

    @Test func `a text that was taken for JSON is told how it is written`() async throws {
        let daemon = try await daemon()
        let refused = try await client(daemon, "call", "sign", "12")
        #expect(refused.exit == .status(1))
        #expect(refused.errors.contains(#"«12» is JSON; as text it is '"12"'"#), "\(refused.errors)")
        #expect(refused.errors.contains("«quickconnect set sign 12»"))
        #expect(try await client(daemon, "call", "sign", #""12""#).output == "\"12\"\n")
        #expect(!(try await client(daemon, "call", "level", "x").errors.contains("quickconnect set")))
    }
}
