import JSON
import Testing

@testable import quickconnect

/// What `macro history --diff` shows.
@Suite("What was changed between two texts")
struct LineDifferenceTests {
    private func lines(_ old: String, _ new: String) -> [String] { LineDifference(from: old, to: new).lines }

    /// All texts of at most three lines, of which none is far enough from a change to be left out.
    private static let texts = (1...3).reduce([[[String]()]]) { sofar, _ in
        sofar + [(sofar.last ?? []).flatMap { text in ["a", "b", ""].map { text + [$0] } }]
    }.flatMap { $0 }

    @Test func `has both texts, and nothing where they are the same`() {
        #expect(Self.texts.count == 40)
        for old in Self.texts {
            for new in Self.texts {
                let lines = lines(old.map { "\($0)\n" }.joined(), new.map { "\($0)\n" }.joined())
                func text(without mark: Character) -> [String] {
                    lines.filter { $0.first != mark }.map { String($0.dropFirst(2)) }
                }
                guard old != new else {
                    #expect(lines.isEmpty)
                    continue
                }
                #expect(text(without: "+") == old && text(without: "-") == new, "\(old) → \(new): \(lines)")
            }
        }
    }

    @Test func `has three lines around a change, and says where lines are left out`() {
        let old = (10...30).map { "\($0)\n" }.joined()
        let new = old.replacing("14\n", with: "x\n").replacing("25\n", with: "")
        let around = ["  11", "  12", "  13", "- 14", "+ x", "  15", "  16", "  17", "…"]
        #expect(lines(old, new) == around + ["  22", "  23", "  24", "- 25", "  26", "  27", "  28", "…"])
        #expect(lines("a\nb", "a\nb\n").isEmpty, "a line break at the end makes no line")
    }
}

@Suite("A macro's text on a terminal")
struct ListedMacroTests {
    @Test func `moves no cursor and hides nothing, and its mark stands below the column`() {
        let mistake: JSONObject = ["line": 2, "column": 4, "source": "\t\u{1b}[2Jx", "message": "no \u{202e}"]
        let text = ListedMacro.text("a\r\n\t\u{1b}[2Jx\n", mistake: mistake)
        #expect(text == "   1  a\n>  2  \t\\u{1b}[2Jx\n      \t       ^\n      no \\u{202e}")
    }
}

@Suite("The line of a call to a device elsewhere")
struct RemoteArgumentsTests {
    private func line(_ words: String) throws -> [String]? {
        try RemoteArguments(words.split(separator: " ").map(String.init))?.line()
    }

    @Test(arguments: [
        ("--device north call ping", "call --device north ping"), ("--device=north ping", "call --device north ping"),
        ("--device north call ping --timeout 5", "call --device north ping --timeout 5"),
        ("--timeout 5 --device group:a --spread=1 set sign x", "set --device group:a --timeout 5 --spread 1 sign x"),
        ("--json --device north list --json", "list --device north --json --json"),
        ("--device north macro run list", "call --device north macro run list"),
        (#"--device north add people -2"#, #"call --device north people null {"add":-2}"#),
    ])
    func `names the device, and keeps the words in their order`(typed: String, line: String) throws {
        #expect(try self.line(typed) == line.split(separator: " ").map(String.init))
    }

    @Test(arguments: ["--device", "--device north", "--device north run x.js", "--device north procedure run x"])
    func `is refused without a device or a command, and for what only works here`(typed: String) {
        #expect(throws: (any Error).self) { try line(typed) }
    }

    @Test(arguments: ["call ping", "call ping --device north", "--socket /x --device north call ping", ""])
    func `is none where no device is named before the command`(typed: String) throws {
        #expect(try line(typed) == nil)
    }
}

@Suite("Where a fetched file is saved")
struct FetchedFileTests {
    @Test(arguments: [
        ("news/take.opus", nil, "take.opus"), ("take", nil, "take.caf"), ("../../x.caf", "/usr", "/usr/x.caf"),
        ("news/take", "/usr/", "/usr/take.caf"), ("take.caf", "/no/where", "/no/where"),
    ])
    func `is its own name here, or in the folder that is named`(file: String, to: String?, path: String) {
        #expect(LocalFile.target(to, for: file) == path)
    }
}
