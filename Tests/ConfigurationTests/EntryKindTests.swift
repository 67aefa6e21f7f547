import Configuration
import JSON
import QuickConnect
import TestRig
import Testing

/// Stands for a command object of the daemon.
private struct Silent: BCO {
    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome { .proceed }
}

@Suite("Entries that are events or schedules")
struct EntryKindTests {
    private func table(
        _ text: String
    ) throws -> (table: MappingTable, warnings: [ConfigurationMistake]) {
        let folder = try TestFolder()
        try folder.write("play: {parameters: [{name: sound, type: integer}], view: []}\n" + text, to: "a.yaml")
        let builder = MappingFiles.load([MappingFiles.Folder(folder.path, isRequired: true)])
        let (table, warnings) = try builder.build(
            catalog: ["PostBCO": Silent(), "SubscribeBCO": Silent()],
            scripts: { HandlerCommandObject($0, handlers: .none) },
            declared: { name, _ in ValueCommandObject(name, ValueStore(EventHub(limits: Limits()))) },
            accounts: SystemAccounts()
        )
        return (table, warnings + (try table.checkPlannedCalls()))
    }

    /// The mistakes of one file, from its second line on, with their places in it.
    private func mistakes(_ text: String) throws -> [String] {
        do {
            _ = try table(text)
            return []
        } catch let error as ConfigurationMistakes {
            return error.mistakes.map { mistake in
                "\(mistake.location.line - 1):\(mistake.location.column): \(mistake.message)"
            }
        }
    }

    @Test func `are read with their rules`() throws {
        let table = try table(
            """
            bell: {event: {type: object, last: true}, post: {users: [root, "web:ann"]}}
            night: {schedule: {at: "22:00", days: [fri, mon], dates: [1, 31], missed: run}, call: [play, 3], set: {users: [root]}}
            chime: {schedule: {every: 15m}}
            """
        ).table
        let bell = try #require(table["bell"])
        #expect(bell.kind == .event && bell.event?.keepsLast == true && bell.event?.parameter.kind == .object)
        #expect(bell.postRule?.userNames == ["root", "web:ann"] && bell.parameters?.parameters == [])
        #expect(bell.gateways.map(\.text) == ["web"])
        let night = try #require(table["night"])
        #expect(night.kind == .schedule && night.schedule?.words == "at 22:00, mon fri, 1. 31.")
        #expect(night.schedule?.runsMissed == true && night.schedule?.call?.parameters == [3])
        #expect(night.setRule?.userNames == ["root"])
        // Without «set» only root runs it.
        #expect(table["chime"]?.setRule?.userNames == [] && table["chime"]?.schedule?.words == "every 15m")
    }

    @Test(arguments: [
        ("a: {event: {type: any}, view: []}", "1:1: 'a' is an event and cannot have command objects"),
        ("a: {schedule: {every: 1h}, view: []}", "1:1: 'a' is a schedule and cannot have command objects"),
        (
            "a: {event: {type: any}, value: {type: any}}",
            "1:1: 'a' is declared as a value and as an event; it can be one of them"
        ),
        (
            "a: {event: {type: any}, schedule: {every: 1h}}",
            "1:1: 'a' is declared as an event and as a schedule; it can be one of them"
        ),
        (
            "a: {view: [], allow: ann}",
            "1:22: 'allow' must name users or groups, such as {users: [ann]}; got the string \"ann\""
        ),
        (
            "a: {business: [script: spin]}",
            "1:16: 'business' must be a list of words: write script:spin, without the space"
        ),
        (
            "a: {value: {type: boolean, led: b}, lease: connection}",
            "1:37: unknown key 'lease' in 'a': it belongs in 'value'"
        ),
        ("a: {type: boolean}", "1:5: unknown key 'type' in 'a': it belongs in 'value', which is not here"),
        (
            "a: {schedule: {every: 1h, call: [play, 1]}}",
            "1:27: unknown key 'call' in a schedule: it belongs beside 'schedule', not in it"
        ),
        (
            "a: {view: [], allow: [ann, bob]}",
            "1:22: 'allow' must name users or groups, such as {users: [ann, bob]}; got a list"
        ),
        (
            "a: {view: [], allow: []}",
            "1:22: 'allow' must name users or groups, such as {users: [ann]}; nobody but root is {users: []}, and everybody is allowed where no file says 'allow'; got an empty list"
        ),
        (
            "a: {value: {type: any}, set: []}",
            "1:30: 'set' must name users or groups, such as {users: [ann]}; nobody but root is {users: []}; got an empty list"
        ),
        (
            "a: {business: [lamp]}",
            "1:16: unknown command object 'lamp'; a handler of a script is \"script:lamp\""
        ),
        ("a: {event: {type: any}, parameters: []}", "1:1: 'a' is an event: it takes no parameters of your own"),
        ("a: {schedule: {every: 1h}, parameters: []}", "1:1: 'a' is a schedule: it takes no parameters of your own"),
        ("a: {event: {type: any}, verbs: {b: {users: [root]}}}", "1:1: 'a' is an event: 'post' says who may post it"),
        (
            "a: {schedule: {every: 1h}, verbs: {run: {users: [root]}}}",
            "1:1: 'a' is a schedule: 'set' says who may run it"
        ),
        (
            "a: {event: {type: any}, set: {users: [root]}}",
            "1:1: 'a' has 'set', which is for an entry with 'value' or 'schedule'"
        ),
        ("a: {value: {type: any}, post: {users: [root]}}", "1:1: 'a' has 'post', which is for an entry with 'event'"),
        ("a: {view: [], post: {users: [root]}}", "1:1: 'a' has 'post', which is for an entry with 'event'"),
        ("a: {view: [], call: [play, 1]}", "1:1: 'a' has 'call', which is for an entry with 'schedule'"),
        ("accel: {event: {type: any}}", "1:1: 'accel' is an event of the device itself; choose another name for yours"),
        ("a: {event: {last: true}}", "1:12: an event needs a 'type', or a 'reader' or 'keys' that it comes from"),
        ("a: {event: any}", "1:12: an event must be a mapping, such as {type: object}; got the string \"any\""),
        ("a: {value: integer}", "1:12: a value must be a mapping, such as {type: integer}; got the string \"integer\""),
        ("a: {event: {type: object, lst: true}}", "1:27: unknown key 'lst' in an event, did you mean 'last'?"),
        (
            "a: {event: {type: number, minimum: 5,5}}",
            "1:38: unknown key '5' in an event: write 5.5, with a point"
        ),
        ("a: {event: {type: string, minimum: 1}}", "1:12: 'minimum' and 'maximum' are for numbers"),
        ("a: {event: {type: string, oneOf: [3]}}", "1:12: 'oneOf' has the number 3, which is not a string"),
        (
            "a: {schedule: {days: [mon]}}",
            "1:15: a schedule needs 'at' or 'every', such as {at: \"22:00\"} or {every: 15m}"
        ),
        (
            "a: {schedule: {at: '22:00', every: 1h}}",
            "1:15: a schedule has 'at' and 'every'; one of them says when, such as {at: \"22:00\"} or {every: 15m}"
        ),
        (
            "a: {schedule: {at: '25:00'}}",
            "1:20: 'at': '25:00' is no time; write 22:00, 22:00:30, sunrise, sunset-1h30m"
        ),
        (
            "a: {schedule: {at: noon}}", "1:20: 'at': 'noon' is no time; write 22:00, 22:00:30, sunrise, sunset-1h30m"
        ),
        (
            "a: {schedule: {at: sunrise+13h}}",
            "1:20: 'at': 'sunrise+13h' is too far from sunrise; write sunrise+12h or less"
        ),
        ("a: {schedule: {every: 5s}}", "1:23: 'every': each 5s is too often; write at least 10s"),
        ("a: {schedule: {every: 7m}}", "1:23: 'every': 7m does not divide a day; write 6m40s or 7m12s"),
        (
            "a: {schedule: {every: 1500ms}}",
            "1:23: 'every' must be whole seconds, such as 10s or 15m; got the string \"1500ms\""
        ),
        (
            "a: {schedule: {every: 15}}",
            "1:23: 'every' must be a number and a unit (ms, s, m, h, d), such as 30s; got the number 15"
        ),
        (
            "a: {schedule: {every: 1h, days: [mon, tues]}}",
            "1:39: no day 'tues', did you mean 'tue'?; the days are mon, tue, wed, thu, fri, sat, sun"
        ),
        (
            "a: {schedule: {every: 1h, days: []}}",
            "1:33: 'days' must not be empty: without the key it is each day, else write [mon, tue]"
        ),
        (
            "a: {schedule: {every: 1h, days: mon}}",
            "1:33: 'days' must be a list, such as [a, b]; got the string \"mon\""
        ),
        (
            "a: {schedule: {every: 1h, dates: 1}}",
            "1:34: 'dates' must be a list of days of the month, such as [1, 15]; got the number 1"
        ),
        ("a: {schedule: {every: 1h, missed: runs}}", "1:35: 'missed' is run or skip, did you mean 'run'?; got 'runs'"),
        (
            "a: {schedule: {every: 1h}, call: play}",
            """
            1:34: 'call' must be a list of a command and its parameters, such as [playSound, chime]; got the string "play"
            """
        ),
        (
            "a: {schedule: {every: 1h}, call: [play, loud]}",
            """
            1:35: the schedule 'a': the parameters of 'play' do not fit: /0: expected sound, an integer; got the string "loud"
            """
        ),
        (
            "a: {schedule: {every: 1h}, call: [play]}",
            "1:35: the schedule 'a': the parameters of 'play' do not fit: /0: expected sound, an integer; got nothing"
        ),
    ])
    func `each mistake is told with its place and its remedy`(text: String, mistake: String) throws {
        #expect(try mistakes(text).first == mistake)
    }

    @Test(arguments: [
        ("set: {groups: [\"web:editors\"]}", true), ("set: {users: [\"mqtt:ha\"]}", true),
        // One may be in the other, and these have rights of their own.
        ("set: {users: [\"web:ann\"]}", false), ("set: {groups: [\"web:editors\", \"web:home\"]}", false),
        ("set: {users: [root]}", false), ("set: {users: [\"schedule:lamp\"]}", false),
    ])
    func `who may set and not call is warned of, with the line that lets them`(rule: String, isWarned: Bool) throws {
        let entry = "lamp: {value: {type: boolean}, allow: {groups: [\"web:home\"]}, \(rule)}"
        let found = try table(entry).warnings.map(\.description).filter { $0.contains("and not call it") }
        #expect(found.count == (isWarned ? 1 : 0), "\(found)")
        guard rule.contains("editors"), isWarned else { return }
        #expect(
            found[0].contains("«lamp: {allow: {groups: [web:home, web:editors]}}»"),
            "\(found)"
        )
    }

    @Test func `a call that its schedule may not make is a mistake, with the line that allows it`() throws {
        let rules = """
            lamp: {value: {type: boolean}, set: {users: [root]}}
            safe: {parameters: [{name: verb, type: string}], view: [], verbs: {open: {users: [root]}}}
            shut: {view: [], allow: {groups: [root]}}

            """
        func first(_ call: String) throws -> String? {
            try mistakes(rules + "a: {schedule: {every: 1h}, call: \(call)}").first
        }
        #expect(try first("[lamp]") == nil && first("[safe, close]") == nil)
        for (call, what) in [
            ("[lamp, true]", "setting lamp is allowed to user root"),
            ("[safe, open]", "safe open is allowed to user root"),
            ("[shut]", "shut is allowed to group root"),
        ] {
            let told = try #require(try first(call))
            #expect(told.hasPrefix("4:35: the schedule 'a': \(what)"), "\(told)")
            #expect(told.contains("schedule:a"), "\(told)")
        }
        let named = rules.replacing("{groups: [root]}", with: "{users: ['schedule:a']}")
        #expect(try mistakes(named + "a: {schedule: {every: 1h}, call: [shut]}") == [])
    }

    @Test func `one line is advised for all that an entry lacks, for two of one entry are refused in a file`() throws {
        let rules = """
            lamp: {value: {type: boolean}, allow: {users: [root]}, set: {users: [root]}}
            safe: {view: [], verbs: {open: {users: [root]}, shut: {groups: [root]}}}
            post: {business: [PostBCO]}
            bell: {event: {type: any}}
            late: {schedule: {at: "23:00"}, call: [lamp]}
            evening: {schedule: {at: "22:00"}, call: [lamp, true]}
            one: {schedule: {every: 1h}, call: [safe, open]}
            two: {schedule: {every: 1h}, call: [safe, shut]}
            three: {schedule: {every: 1h}, call: [post, bell]}
            four: {schedule: {every: 1h}, call: [post, bell]}

            """
        let told = try mistakes(rules)
        let lines = Set(told.compactMap { $0.split(separator: "«").last?.split(separator: "»").first.map(String.init) })
        #expect(
            told.count == 6
                && lines == [
                    "lamp: {allow: {users: [root, schedule:evening, schedule:late]}, set: {users: [root, schedule:evening]}}",
                    "safe: {verbs: {open: {users: [root, schedule:one]}, shut: {users: [schedule:two], groups: [root]}}}",
                    "bell: {post: {users: [schedule:four, schedule:three]}}",
                ],
            "\(told)"
        )
        let left = try table(
            "lamp: {view: [], allow: {users: [root]}, verbs: {a: {users: [bin]}, b: {users: [sys]}}}"
        ).warnings
        let line = "«lamp: {allow: {users: [root, bin, sys]}}»"
        #expect(left.count == 2 && left.allSatisfy { $0.message.contains(line) }, "\(left)")
    }

    @Test func `a group of a gateway that is nearly that of the home, or of other rules, is a warning`() throws {
        func told(_ groups: String...) throws -> [String] {
            let entries = groups.enumerated().map { "a\($0): {view: [], allow: {groups: [\"\($1)\"]}}\n" }
            return try table(entries.joined()).warnings.map(\.message)
        }
        #expect(try told("web:hoem") == ["the gateway 'web' may have no group 'hoem', did you mean 'home'?"])
        #expect(
            try told("web:staff", "web:staff", "web:stuff")
                == ["the gateway 'web' may have no group 'stuff', did you mean 'staff'?"]
        )
        #expect(try told("web:home", "sso:hoem", "web:ops", "web:floor1", "web:floor1", "web:floor2") == [])
        #expect(try told("web:staff", "web:stuff") == [])
    }

    @Test(arguments: [
        ("[post, bell, {}]", "nobody may post bell"), ("[post, level, 3]", "posting level is allowed to user root"),
        ("[post, open, x]", "/1: expected data, an integer; got the string \"x\""),
        ("[post, press, {n: 1, m: x}]", "/1/m: expected m, an integer; got the string \"x\""),
        ("[post, a, 1]", "'a' is a schedule, whose event is sent when it runs; choose another name for yours"),
        ("[post, accel, 1]", "'accel' is an event of the device"),
        ("[subscribe, bell]", "'subscribe' is for a connection that lasts"),
    ])
    func `a post that would be refused, and a call that needs a connection, are mistakes`(call: String, what: String)
        throws
    {
        let text = """
            post: {business: [PostBCO]}
            subscribe: {business: [SubscribeBCO]}
            bell: {event: {type: any}}
            level: {event: {type: integer}, post: {users: [root]}}
            open: {event: {type: integer}, post: {users: ["schedule:a"]}}
            press: {event: {type: object, members: {n: {type: integer}, m: {type: integer}}}, post: {users: ["schedule:a"]}}

            """
        func first(_ call: String) throws -> String? {
            try mistakes(text + "a: {schedule: {every: 1h}, call: \(call)}").first
        }
        let told = try #require(try first(call))
        #expect(told.hasPrefix("7:35: the schedule 'a': \(what)"), "\(told)")
        #expect(try first("[post, open, 5]") == nil && first("[post, news]") == nil)
    }

    @Test func `a schedule does at worst what its call does, and no less than act`() throws {
        let table = try table(
            """
            look: {view: [], effect: reads}
            wipe: {view: []}
            none: {schedule: {every: 1h}}
            looks: {schedule: {every: 1h}, call: [look]}
            wipes: {schedule: {every: 1h}, call: [wipe]}
            asks: {schedule: {every: 1h}, call: [handler]}
            chain: {schedule: {every: 1h}, call: [wipes]}
            bell: {event: {type: any}}
            """
        ).table
        let effects = ["none", "looks", "wipes", "asks", "chain", "bell"].map { table[$0]?.effect }
        #expect(effects == [.acts, .acts, .destroys, .destroys, .destroys, .reads])
    }

    @Test func `a rule for a schedule that no file declares is a warning, with the nearest one`() throws {
        let (_, warnings) = try table(
            """
            default: {allow: {users: ["schedule:nihgt", "schedule:night", "web:ann"]}}
            night: {schedule: {every: 1h}}
            lamp: {value: {type: boolean}, set: {users: ["schedule:lamp"]}}
            """
        )
        #expect(
            warnings.map { "\($0.location.line - 1): \($0.message)" } == [
                "1: no file declares the schedule 'nihgt' of this rule, did you mean 'night'?",
                "3: no file declares the schedule 'lamp' of this rule",
            ]
        )
    }

    @Test func `a call of what no file maps is a warning, because a client may register it`() throws {
        let (table, warnings) = try table("a: {schedule: {every: 1h}, call: [plai, 1]}")
        #expect(table["a"]?.schedule?.call != nil)
        #expect(
            warnings.map(\.message) == [
                """
                no file maps 'plai', did you mean 'play'?; the schedule 'a' reaches it only while a client has registered a \
                handler of that name
                """
            ]
        )
    }

    @Test func `dates that some months lack are a warning, but with days of the week`() throws {
        let (_, warnings) = try table(
            """
            rent: {schedule: {at: "08:00", dates: [31]}}
            leap: {schedule: {at: "08:00", dates: [29, 30, 31]}}
            last: {schedule: {at: "08:00", dates: [28, 31]}}
            fifth: {schedule: {at: "08:00", dates: [29, 30, 31], days: [mon]}}
            """
        )
        let rest = "; dates: [28] comes each month, and [1] is the day after its end"
        #expect(
            warnings.map(\.message) == [
                "the schedule 'rent' runs in 7 of 12 months, because the others have no day 31" + rest,
                "the schedule 'leap' runs in 11 of 12 months, because February has no day 29 but in leap years"
                    + rest,
            ]
        )
    }

    @Test func `an entry over two files has one kind, unless the later one replaces it`() throws {
        #expect(try mistakes("a: {event: {type: any}}\n").isEmpty)
        let folder = try TestFolder()
        func load(_ later: String) throws -> MappingTable {
            try folder.write("a: {event: {type: any}}", to: "a.yaml")
            try folder.write(later, to: "b.yaml")
            return try MappingFiles.load([MappingFiles.Folder(folder.path, isRequired: true)]).build(
                catalog: [:],
                scripts: { HandlerCommandObject($0, handlers: .none) },
                declared: { name, _ in ValueCommandObject(name, ValueStore(EventHub(limits: Limits()))) },
                accounts: SystemAccounts()
            ).table
        }
        #expect(throws: ConfigurationMistakes.self) { try load("a: {value: {type: any}}") }
        let error = #expect(throws: ConfigurationMistakes.self) { try load("a: {event: {type: any, last: true}}") }
        #expect(
            error?.mistakes.map(\.description) == [
                """
                \(folder("b.yaml")):1:1: 'a' is another event already, in \(folder("a.yaml")):1:1; choose another name, or \
                say 'replace: true' here to replace that
                """
            ]
        )
        #expect(try load("a: {event: {type: any}}")["a"]?.places.map(\.file) == [folder("a.yaml"), folder("b.yaml")])
        #expect(try load("a: {replace: true, event: {type: integer}}")["a"]?.places.map(\.file) == [folder("b.yaml")])
        #expect(try load("a: {replace: true, value: {type: any}}")["a"]?.kind == .value)
        #expect(try load("a: {post: {users: [root]}}")["a"]?.postRule?.userNames == ["root"])
    }

    @Test func `two of the owner's files declare one thing alike, and his file changes a shipped one`() throws {
        let (shipped, owners) = (try TestFolder(), try TestFolder())
        try shipped.write("night: {schedule: {at: '22:00'}, call: [play, 1]}\nlamp: {value: {type: any}}", to: "z.yaml")
        func load(_ one: String, _ other: String) throws -> MappingTable {
            try owners.write(one, to: "a.yaml")
            try owners.write(other, to: "b.yaml")
            return try MappingFiles.load([shipped, owners].map { .init($0.path, isRequired: true) }).build(
                catalog: [:],
                scripts: { HandlerCommandObject($0, handlers: .none) },
                declared: { name, _ in ValueCommandObject(name, ValueStore(EventHub(limits: Limits()))) },
                accounts: SystemAccounts()
            ).table
        }
        let ten = "night: {schedule: {at: '22:00'}, call: [play, 2]}"
        #expect(try load(ten, "lamp: {value: {type: boolean}}")["night"]?.schedule?.call?.parameters == [2])
        #expect(try load(ten, ten)["lamp"]?.value?.parameter.kind == .any)
        let two = ten.replacing(" 2]", with: " 2.0]")
        #expect(try load(ten, two)["night"]?.schedule != nil)
        let level = "lamp: {value: {type: number, default: 0, oneOf: [0, 1.5]}}"
        let same = "lamp: {value: {type: number, default: 0.0, oneOf: [0.0, 1.5]}}"
        #expect(try load(level, same)["lamp"]?.value?.initial == 0.0)
        #expect(throws: ConfigurationMistakes.self) {
            try load(level, level.replacing("default: 0", with: "default: 1.5"))
        }
        #expect(try load(ten, "night: {call: [play, 3]}")["night"]?.schedule?.call?.parameters == [3])
        for other in ["night: {schedule: {at: '22:00'}, call: [play, 3]}", "night: {schedule: {at: '22:30'}}"] {
            let error = #expect(throws: ConfigurationMistakes.self) { try load(ten, other) }
            let told = "'night' is another schedule already, in \(owners("a.yaml")):1:1;"
            #expect(error?.mistakes.first?.message.hasPrefix(told) == true, "\(String(describing: error))")
        }
    }
}
