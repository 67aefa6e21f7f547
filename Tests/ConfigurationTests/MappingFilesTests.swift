import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@testable import Configuration

@Suite("The files of mappings")
struct MappingFilesTests {
    // Command objects for the names that files use.
    private struct StubValCO: ValCO {
        func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome { .accept }
    }
    private struct StubBCO: BCO {
        func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome { .proceed }
    }
    private struct StubVCO: VCO {
        func show(_ call: borrowing Call) throws(CommandError) -> ViewOutcome { .proceed }
    }
    private struct StubECO: ECO {
        func see(_ error: CommandError, of call: borrowing Call) throws(CommandError) -> ErrorOutcome { .proceed }
    }

    private static let catalog: [String: any CommandObject] = [
        "AValCO": StubValCO(), "ABCO": StubBCO(), "BBCO": StubBCO(), "AVCO": StubVCO(), "AECO": StubECO(),
    ]

    private func folder(_ files: [String: String]) throws -> TestFolder {
        let folder = try TestFolder()
        for (name, text) in files { try text.write(toFile: folder(name), atomically: true, encoding: .utf8) }
        return folder
    }

    private func table(
        _ folders: TestFolder...,
        catalog: [String: any CommandObject] = Self.catalog
    ) throws -> MappingTable {
        try build(folders, catalog: catalog).table
    }

    private func build(_ folders: TestFolder...) throws -> (table: MappingTable, warnings: [ConfigurationMistake]) {
        try build(folders, catalog: Self.catalog)
    }

    private func build(
        _ folders: [TestFolder],
        catalog: [String: any CommandObject]
    ) throws -> (table: MappingTable, warnings: [ConfigurationMistake]) {
        let builder = MappingFiles.load(folders.map { MappingFiles.Folder($0.path, isRequired: true) })
        let scripts = { (name: String) in HandlerCommandObject(name, handlers: .none) as any CommandObject }
        let values = { (name: String, _: MappingDeclaration) in
            ValueCommandObject(name, ValueStore(EventHub(limits: Limits()))) as any CommandObject
        }
        return try builder.build(catalog: catalog, scripts: scripts, declared: values, accounts: SystemAccounts())
    }

    /// An e with an acute accent, as one code point and as two: to Unicode the same text, to the disk two names.
    private static let (composed, decomposed) = ("n\u{e9}.yaml", "ne\u{301}.yaml")

    @Test func `files replace each other where the bytes of their names are the same`() throws {
        let shipped = try folder([Self.composed: "a: {view: []}", "b.yaml": "b: {view: []}"])
        let owners = try folder([Self.decomposed: "c: {view: []}", "b.yaml": "d: {view: []}"])
        #expect(Set(try table(shipped, owners).entries.map(\.command)) == ["a", "c", "d"])
    }

    @Test func `keys are the same where their bytes are`() throws {
        let text = "a:\n  view: []\n  value: 1\n"
        let key = "\(String(Self.composed.dropLast(5))): 1\n\(String(Self.decomposed.dropLast(5))): 2\n"
        #expect(try YAMLParser.parse(key)?.mapping?.count == 2)
        #expect(throws: YAMLMistake.self) { try YAMLParser.parse(text + text) }
    }

    /// The mistakes of one file, without its folder.
    private func mistakes(_ text: String) throws -> [String] {
        let folder = try folder(["a.yaml": text])
        do {
            _ = try table(folder)
            return []
        } catch let error as ConfigurationMistakes {
            return error.mistakes.map { $0.description.replacingOccurrences(of: folder.path + "/", with: "") }
        }
    }

    private func names(_ table: MappingTable, _ command: String, _ phase: Phase) -> [String]? {
        table[command]?.steps(of: phase).map(\.name)
    }

    @Test(
        "Each mistake is told with its place and what may have been meant",
        arguments: [
            ("a: {busines: [ABCO]}", "a.yaml:1:5: unknown key 'busines' in 'a', did you mean 'business'?"),
            (
                "a:\n  business: [ABC]",
                "a.yaml:2:14: unknown command object 'ABC', did you mean 'ABCO'?"
            ),
            ("a: {view: [ABCO]}", "a.yaml:1:12: 'ABCO' belongs under 'business', not under 'view'"),
            ("a: {business: ABCO}", "a.yaml:1:15: 'business' must be a list, such as [a, b]; got the string \"ABCO\""),
            (
                "a: {timeout: 30}",
                "a.yaml:1:14: 'timeout' must be a number and a unit (ms, s, m, h, d), such as 30s; got the number 30"
            ),
            ("a: {remove: true}", "a.yaml:1:1: no file before maps 'a', so it cannot be removed"),
            ("error: {view: [AVCO]}", "a.yaml:1:1: 'error' is the command of error replies and cannot be mapped"),
            ("a: {allow: {user: [root]}}", "a.yaml:1:13: unknown key 'user' in 'allow', did you mean 'users'?"),
            (
                "a: {parameters: [{name: x, type: int}]}",
                "a.yaml:1:34: unknown type 'int', did you mean 'integer'?; the types are string, integer, number, boolean, object, array, any"
            ),
            (
                "a: {parameters: [{name: x, type: integer, minimum: 3, maximum: 2}]}",
                "a.yaml:1:18: 'minimum' is greater than 'maximum'"
            ),
            (
                "a: {parameters: [{name: x, type: integer, default: 3}]}",
                "a.yaml:1:18: 'default' is for a parameter with 'optional: true'"
            ),
            (
                "a: {parameters: [{name: x, type: any, repeat: true}, {name: y, type: any}]}",
                "a.yaml:1:18: 'repeat' is for the last parameter only"
            ),
            (
                "lamp: {view: []}\nfan: {help: nothing}",
                "a.yaml:2:1: no file maps 'fan' to a command object; a command that does nothing has 'view: []'"
            ),
            ("- a", "a.yaml:1:1: a file of mappings must be a mapping of keys to values; got a list"),
        ]
    )
    func place(text: String, mistake: String) throws {
        #expect(try mistakes(text).first == mistake)
    }

    @Test(arguments: [
        ("a:\n\tview: []", "a.yaml:2:1"), ("a:\n  view:\n  \t- AVCO", "a.yaml:3:3"), ("\ta: {view: []}", "a.yaml:1:1"),
    ])
    func `a tab is told to be spaces`(text: String, place: String) throws {
        #expect(try mistakes(text) == ["\(place): YAML is not indented by tabs: use spaces"])
        #expect(try mistakes("a: {help: 'x\ty',\tview: []}").isEmpty)
    }

    @Test func `all mistakes are told at once, and none that may follow from another`() throws {
        let folder = try folder([
            "1.yaml": "a:\n  vew: [AVCO]\nb: {view: [Nope]}", "2.yaml": "c: {view: [Nope]}\nd: {remove: true}",
            "3.yaml": "a: {allow: {users: [root]}}",
        ])
        func told() throws -> [String] {
            do {
                _ = try table(folder)
                return []
            } catch let error as ConfigurationMistakes {
                return error.mistakes.map { $0.description.replacingOccurrences(of: folder.path + "/", with: "") }
            }
        }
        #expect(try told().map { String($0.prefix { $0 != " " }) } == ["1.yaml:2:3:", "2.yaml:1:12:", "2.yaml:2:1:"])
        // What stands in it may be what the others need.
        try folder.write("d: [", to: "4.yaml")
        let some = try told()
        #expect(some.count == 2 && some[0].hasPrefix("1.yaml:2:3: ") && some[1].hasPrefix("4.yaml:"), "\(some)")
    }

    @Test func `a file that ends in yml is not read, with a warning`() throws {
        let folder = try folder([
            "a.yaml": "a: {view: []}", "b.yml": "b: {view: []}", ".c.yml": "", "d.txt": "", "a.yml": "",
        ])
        let (table, warnings) = try build(folder)
        #expect(table["a"] != nil && table["b"] == nil)
        #expect(
            warnings.map(\.description) == [
                "\(folder("a.yml")):1:1: this file is not read: mappings end in .yaml, and a.yaml is there, too, so its entries belong there",
                "\(folder("b.yml")):1:1: this file is not read: mappings end in .yaml, so rename it to b.yaml",
            ]
        )
    }

    @Test(arguments: ["a.yaml", "home.yaml", "zz.yaml"])
    func `an owner's file wins over a shipped one, whatever their names`(name: String) throws {
        let shipped = try folder(["kiosk.yaml": "kiosk: {view: [], allow: {users: []}, timeout: 1s}\nlamp: {view: []}"])
        let owners = try folder([
            name: "kiosk: {allow: {users: [root]}, timeout: 2s}", "b.yaml": "lamp: {remove: true}",
        ])
        let (table, warnings) = try build(shipped, owners)
        #expect(table["kiosk"]?.timeout == .seconds(2) && table["lamp"] == nil && warnings.isEmpty)
    }

    @Test func `a file that takes commands away by its name is told of, and an empty one means it`() throws {
        let shipped = try folder(["sound.yaml": "play: {view: []}\nrec: {view: []}\nlamp: {view: []}"])
        let owners = try folder(["sound.yaml": "lamp: {view: []}", "z.yaml": "rec: {view: []}"])
        let (old, new) = (shipped("sound.yaml"), owners("sound.yaml"))
        let says = "this file takes the place of \(old), so that there is no play: rename it"
        #expect(try build(shipped, owners).warnings.map(\.description) == ["\(new):1:1: \(says)"])
        #expect(try build(shipped, try folder(["sound.yaml": "# none"])).warnings.isEmpty)
    }

    @Test func `a name of a shipped command is a mistake in the owner's file, with both places`() throws {
        let shipped = try folder(["device.yaml": "stop: {view: []}"])
        let owners = try folder(["a.yaml": "lamp: {value: {type: boolean}}\nstop: {value: {type: boolean}}"])
        #expect {
            try build(shipped, owners)
        } throws: { error in
            (error as? ConfigurationMistakes)?.mistakes.map(\.description) == [
                "\(owners("a.yaml")):2:1: 'stop' is a command already, in \(shipped("device.yaml")):1:1; choose another name, "
                    + "or say 'replace: true' here to replace that"
            ]
        }
        // The place is where it is said what the command is, not where it is mentioned first.
        let two = try folder([
            "a.yaml": "lamp: {help: in the hall}", "b.yaml": "lamp: {event: {type: boolean}}",
            "c.yaml": "lamp: {value: {type: boolean}}",
        ])
        #expect {
            try build(shipped, two)
        } throws: { error in
            let text = (error as? ConfigurationMistakes)?.mistakes.map(\.description).joined() ?? ""
            return text.hasPrefix("\(two("c.yaml")):1:1: 'lamp' is an event already, in \(two("b.yaml")):1:1;")
        }
        let replaced = try folder(["a.yaml": "stop: {replace: true, value: {type: boolean}}"])
        #expect(try build(shipped, replaced).table["stop"]?.kind == .value)
    }

    @Test(arguments: [
        ("{help: A fan: fast.}", "needs quotes"), ("\n  help: A fan: fast.", "such as \"A fan: fast\""),
        ("\n  help: a\n b: c", "indented unlike"), ("\n  help: @home", "needs quotes"),
        ("\n  help: \"open", "not closed"), ("\n  view: [", "a bracket is not closed"),
    ])
    func `what libyaml says has what to do about it`(text: String, remedy: String) throws {
        let told = try mistakes("a: \(text)")
        #expect(told.count == 1 && told[0].contains(": not YAML: ") && told[0].contains(remedy), "\(told)")
    }

    @Test(arguments: [
        (
            "a:\n  help: x\n  view []\n\nb: {view: []}",
            "a.yaml:3:3: not YAML: could not find expected ':'; a key ends with"
        ),
        ("a:\n  help: \"x\n  view: []\nb: {view: []}", "a.yaml:2:9: not YAML: found unexpected end of stream; a quote"),
        (
            "a:\n  view: [\nb:\n  view: []",
            "a.yaml:4:7: not YAML: did not find expected ',' or ']' for the bracket of line 2; "
        ),
    ])
    func `what has no end is told where it begins`(text: String, says: String) throws {
        let told = try mistakes(text)
        #expect(told.count == 1 && told[0].hasPrefix(says), "\(told)")
    }

    @Test func `a file that goes while the folder is read is not there`() async throws {
        let folder = try folder(["a.yaml": "a: {view: []}"])
        let path = folder("b.yaml")
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                while !Task.isCancelled {
                    try Data().write(to: URL(fileURLWithPath: path))
                    try FileManager.default.removeItem(atPath: path)
                }
            }
            defer { tasks.cancelAll() }
            for _ in 0..<500 {
                let table = try table(folder)
                #expect(table["a"] != nil)
            }
        }
    }

    @Test func `text that is no YAML, or has a key twice, is a mistake with its place`() throws {
        #expect(try mistakes("a: [").first?.hasPrefix("a.yaml:") ?? false)
        #expect(
            try mistakes("a: {}\na: {}").first
                == "a.yaml:2:1: the key 'a' is given twice, first in line 1; remove one of the two"
        )
        #expect(
            try mistakes("a: {}\n---\nb: {}").first == "a.yaml:3:1: a second document begins here; a file holds one"
        )
        #expect(try mistakes("a: &x {help: *x}").first?.contains("more values, or deeper ones") ?? false)
        // Nine aliases of nine aliases and so on would be 9⁹ values.
        let lists = (1...9).map {
            "a\($0): &a\($0) [\(Array(repeating: "*a\($0 - 1)", count: 9).joined(separator: ","))]"
        }
        let bomb = (["a0: &a0 [x]"] + lists).joined(separator: "\n")
        #expect(try mistakes(bomb).first?.contains("more values, or deeper ones") ?? false)
        #expect(try mistakes("a: *nothing").first == "a.yaml:1:4: not YAML: found undefined alias")
        let folder = try TestFolder()
        try FileManager.default.createDirectory(atPath: folder("folder.yaml"), withIntermediateDirectories: false)
        #expect(throws: ConfigurationMistakes.self) { try table(folder) }
    }

    @Test(arguments: [
        ("# a\r\n\na: \u{1B}", "a.yaml:3:4: not YAML: control characters are not allowed: U+1B"),
        ("\u{FEFF}a:\n\n  \u{FFFE}", "a.yaml:3:3: not YAML: control characters are not allowed: U+FFFE"),
        ("a:\n  help: \"\\ud83d\\ude00\"", #"write the character itself, or one escape for it, such as "\U0001F600""#),
    ])
    func `a character that YAML does not have is told at its place`(text: String, says: String) throws {
        let told = try mistakes(text)
        #expect(told.count == 1 && told[0].hasSuffix(says), "\(told)")
    }

    @Test func `text that is not UTF-8, and a name that is not, are mistakes that say so`() throws {
        let folder = try folder([:])
        try Data(Array("# ok\n\na: ".utf8) + [0xE9]).write(to: URL(fileURLWithPath: folder("latin.yaml")))
        // Foundation takes no such name.
        let name = "\(folder.path)/".utf8CString.dropLast() + [CChar(bitPattern: 0xFF)] + ".yaml".utf8CString
        try #require(mkdir(Array(name), 0o700) == 0)
        defer { rmdir(Array(name)) }
        let error = #expect(throws: ConfigurationMistakes.self) { try table(folder) }
        #expect(
            error?.mistakes.map(\.description) == [
                "\(folder("latin.yaml")):3:1: is not UTF-8 in line 3",
                "\(folder("\u{FFFD}.yaml")):1:1: the name of this file is not UTF-8, so rename it",
            ]
        )
    }

    @Test func `a folder of mappings that is a link to nowhere is a mistake, not an absent one`() throws {
        let parent = try folder([:])
        symlink("/nonexistent/m", parent("m"))
        let builder = MappingFiles.load([.init(parent("m"), isRequired: false)])
        #expect(builder.isIncomplete)
    }

    @Test func `a copy of a file is told, for its command objects run twice`() throws {
        let text = "a: {business: [ABCO, BBCO], view: [AVCO, AVCO]}\nb: {value: {type: any}}"
        let folder = try folder(["s (copy).yaml": text, "s.yaml": "a: {business: [ABCO], view: [AVCO]}"])
        let (table, warnings) = try build(folder)
        #expect(names(table, "a", .business) == ["ABCO", "BBCO", "ABCO"])
        let copy = folder("s (copy).yaml")
        #expect(
            warnings.map(\.description) == [
                "\(folder("s.yaml")):1:16: 'a' runs 'ABCO' twice: \(copy):1:16 has it, too; remove the file that is a copy",
                "\(folder("s.yaml")):1:30: 'a' runs 'AVCO' twice: \(copy):1:36 has it, too; remove the file that is a copy",
            ]
        )
    }

    @Test(
        arguments: [
            ("", "[", 200_000, "a.yaml:1:66: more values, or deeper ones"),
            ("a: ", "{b: ", 200_000, "a.yaml:1:257: more values, or deeper ones"),
            ("", "- ", 200_000, "a.yaml:1:131: more values, or deeper ones"),
            ("", "- &a# x\n", 60_000, "a.yaml:1:1: a file of mappings must be"),
            ("", "%TAG !a#! b\n", 60_000, "a.yaml:65:1: more than 64 times %TAG"),
            ("", "a: x\n", 1_000_000, "a.yaml:1:1: is larger than 4194304 bytes"),
        ]
    )
    func `what would take libyaml a minute is a mistake`(head: String, piece: String, count: Int, start: String)
        throws
    {
        let isNumbered = piece.contains("#")
        let text = head + (0..<count).map { isNumbered ? piece.replacing("#", with: "\($0)") : piece }.joined()
        let told = try mistakes(text)
        #expect(told.count == 1 && told[0].hasPrefix(start), "\(told)")
    }

    @Test func `an alias is as deep and as large as its anchor's value`() throws {
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let twice = "a: {x: &x \(deep), y: \(String(repeating: "[", count: 30))*x\(String(repeating: "]", count: 30))}"
        #expect(try mistakes(twice).first?.hasPrefix("a.yaml:1:126: more values, or deeper ones") ?? false)
        #expect(try mistakes("a: {allow: {only: true}}").first?.contains("unknown key 'only' in 'allow'") ?? false)
        let shared = try folder(["a.yaml": "a: {help: &text words, answers: *text, view: []}"])
        #expect(try table(shared)["a"]?.answers == "words")
        #expect(try YAMLParser.parse("[&x a, &x [&x b, *x], *x]")?.json == ["a", ["b", "b"], ["b", "b"]])
    }

    @Test func `all mistakes of all files are told at once`() throws {
        #expect(try mistakes("a: {vew: []}\nb: {timeout: x}\nc: {parameters: 3}").count == 3)
    }

    @Test func `later files append to the phases and replace every other key`() throws {
        let folder = try folder([
            "1.yaml": "a: {help: one, business: [ABCO], timeout: 1s}",
            "2.yaml": "a: {help: two, business: [BBCO], view: [AVCO]}",
        ])
        let table = try table(folder)
        #expect(names(table, "a", .business) == ["ABCO", "BBCO"])
        #expect(table["a"]?.help == "two" && table["a"]?.timeout == .seconds(1))
    }

    @Test func `replace starts anew, remove takes out, default goes first`() throws {
        let folder = try folder([
            "1.yaml": "a: {business: [ABCO]}\nb: {business: [ABCO]}\ndefault: {business: [BBCO], timeout: 2m}",
            "2.yaml": "a: {replace: true, view: [AVCO]}\nb: {remove: true}\nc: {business: [\"script:x\"]}",
        ])
        let table = try table(folder)
        #expect(names(table, "a", .business) == ["BBCO"] && names(table, "a", .view) == ["AVCO"])
        #expect(table["b"] == nil)
        #expect(names(table, "c", .business) == ["BBCO", "script:x"])
        #expect(table["c"]?.timeout == .seconds(120))
    }

    @Test func `an owner's file of the same name stands in for the shipped one`() throws {
        let shipped = try folder(["1.yaml": "a: {business: [ABCO]}", "2.yaml": "b: {business: [ABCO]}"])
        let own = try folder(["1.yaml": "c: {view: []}"])
        let table = try table(shipped, own)
        #expect(table["a"] == nil && table["b"] != nil && table["c"] != nil)
    }

    @Test func `a folder that was named must be there, a default one need not`() throws {
        func build(isRequired: Bool) throws {
            _ = try MappingFiles.load([.init("/nonexistent/m", isRequired: isRequired)]).build(
                catalog: [:],
                scripts: { HandlerCommandObject($0, handlers: .none) },
                declared: { name, _ in ValueCommandObject(name, ValueStore(EventHub(limits: Limits()))) },
                accounts: SystemAccounts()
            )
        }
        #expect(throws: Never.self) { try build(isRequired: false) }
        #expect(throws: ConfigurationMistakes.self) { try build(isRequired: true) }
    }

    @Test(arguments: [("1ms", 0.001), ("500ms", 0.5), ("30s", 30), ("2m", 120), ("1h", 3600), ("1.5s", 1.5)])
    func `a duration is a number and a unit`(text: String, seconds: Double) {
        #expect(Duration(text: text)?.seconds == seconds)
    }

    @Test(arguments: ["", "s", "30", "-1s", "1e3s", "0s", "0.5ms", "0.0001s", "nan s", "1 s", "9999999h"])
    func `anything else is no duration`(text: String) {
        #expect(Duration(text: text) == nil)
    }

    @Test func `a document that aliases grow into billions of nodes is refused, which would else take for ever`() throws
    {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...12 {
            text += "a\(level): &a\(level) [\(Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", "))]\n"
        }
        _ = try mistakes(text + "b: {parameters: [{name: x, type: any, optional: true, default: *a12}]}")
    }

    @Test func `mutated files never crash, and end in a table or in mistakes`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("mappings/daemon.yaml")
        let shipped = Array(try String(contentsOf: root, encoding: .utf8).utf8)
        var seed: UInt64 = 42
        func random(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % bound
        }
        var tables = 0
        for _ in 0..<400 {
            var bytes = shipped
            for _ in 0...random(4) { bytes[random(bytes.count)] = UInt8(32 + random(95)) }
            let text = String(decoding: bytes, as: UTF8.self)
            if try mistakes(text).isEmpty { tables += 1 }
        }
        // Most mutations hit a name of a command object that this catalog does not have.
        #expect(tables < 400)
    }

    @Test func `how a command looks in Home Assistant is read, and told where it cannot be`() throws {
        let files = try folder([
            "a.yaml": "a: {view: [], homeAssistant: {platform: button, name: A, qos: 0}}\nb: {view: []}",
            "b.yaml": "b: {homeAssistant: false}",
        ])
        let table = try table(files)
        #expect(table["a"]?.homeAssistant == ["platform": "button", "name": "A", "qos": 0])
        #expect(table["b"]?.homeAssistant == false)
        #expect(
            try mistakes("a: {homeAssistant: true}").first?.hasPrefix("a.yaml:1:20: 'homeAssistant' must be a mapping")
                ?? false
        )
        #expect(
            try mistakes("a: {homeAssistant: {platform: buton}}").first
                == "a.yaml:1:31: Home Assistant has no platform 'buton', did you mean 'button'?"
        )
        #expect(
            try mistakes("a: {homeAssistant: {unique_id: x}}").first?.hasPrefix("a.yaml:1:21: 'unique_id' is made")
                ?? false
        )
        // A key of a later version, or of a platform like no other, may be right.
        let keys = "device_clas: door, unit_of_measurment: W, tilt_command_topic: ~/t, state_class: total, pl_on: a"
        let odd = try folder(["a.yaml": "a: {view: [], homeAssistant: {\(keys)}}"])
        let (says, doubt) = ("no entity of Home Assistant has", "as far as is known, did you mean")
        let told = [
            ":31: \(says) 'device_clas', \(doubt) 'device_class'?",
            ":50: \(says) 'unit_of_measurment', \(doubt) 'unit_of_measurement'?",
        ]
        #expect(try build(odd).warnings.map(\.description) == told.map { "\(odd("a.yaml")):1\($0)" })
    }
}
