import Concurrency
import Foundation
import JSON
import QuickConnect
import Testing

/// The pages are read from the folder `docs` beside `Tests`.
private func page(_ path: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
}

@Suite("The pages say what is true", .timeLimit(.minutes(5)))
struct DocumentationTests {
    @Test("Every rule of docs/history.md is the name of a test, and every such test is a rule there")
    func rules() throws {
        let rules = try page("docs/history.md").matches(of: /\n\d+\. \*\*([^*]+?)\.?\*\*/).map {
            $0.output.1.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        var tests: [String] = []
        for part in ["", "+Replies", "+Waiting", "+Endings", "+Handlers", "+Events", "+Bounds"] {
            let source = try page("Tests/QuickConnectTests/StackRulesTests\(part).swift")
            tests += source.matches(of: /@Test\(\s*"([^"]+)"/).map { String($0.output.1) }
        }
        #expect(Set(rules).subtracting(tests) == [])
        #expect(Set(tests).subtracting(rules) == [])
        #expect(rules.count == Set(rules).count)
    }

    @Test("The rules of docs/history.md are numbered in their order")
    func numbers() throws {
        let numbers = try page("docs/history.md").matches(of: /\n(\d+)\. \*/).compactMap { Int($0.output.1) }
        #expect(numbers == Array(1...max(1, numbers.count)))
    }

    @Test("Every error code is described in docs/protocol.md", arguments: CommandError.Code.allCases)
    func codes(code: CommandError.Code) throws {
        #expect(try page("docs/protocol.md").contains("\n| `\(code.rawValue)` |"))
    }

    @Test(
        "What pages quote stands in the files",
        arguments: [("docs/devices.md", 15), ("docs/native-commands.md", 0)]
    )
    func quotations(of name: String, moreThan least: Int) throws {
        let text = try page(name)
        let blocks = text.matches(of: /`{3}(?:swift|yaml|text)\n([\s\S]*?)`{3}/)
        #expect(blocks.count > least)
        for block in blocks where !text[..<block.range.lowerBound].hasSuffix("-->\n") {
            let files = text[..<block.range.lowerBound].matches(of: /`((?:Sources|Tests|mappings|Package)[^` ]*\.\w+)`/)
            let file = String(try #require(files.last).output.1)
            let source = trimmed(try page(file))
            for part in block.output.1.split(separator: "…") {
                #expect(source.contains(trimmed(String(part))), "\(file): \(part)")
            }
        }
    }

    @Test("docs/native-commands.md has every command object of the catalog, and no other")
    func objects() throws {
        let catalog = try page("Sources/Daemon/Commands/Catalog.swift").matches(of: /(?m)^ {12}(\w+CO)\(/)
        let described = try page("docs/native-commands.md").matches(of: /(?m)^\| `(\w+CO)` \|/)
        #expect(catalog.count > 30)
        #expect(Set(described.map { String($0.output.1) }) == Set(catalog.map { String($0.output.1) }))
    }

    /// The lines without what they are indented by.
    private func trimmed(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            .joined(separator: "\n")
    }

    @Test("The examples of docs/protocol.md are what a daemon says")
    func examples() async throws {
        let text = try page("docs/protocol.md")
        let blocks = text.matches(of: /`{3}text\n([\s\S]*?)`{3}/)
            .filter { !text[..<$0.range.lowerBound].hasSuffix("-->\n") }.map { String($0.output.1) }
        #expect(blocks.count > 5)
        for block in blocks { try await check(block) }
    }

    /// Says the lines `→` and expects the lines `←`; those marked `←*` in any order.
    private func check(_ block: String) async throws {
        let place = SourceLocation(file: "quickconnectd.yaml", line: 1, column: 1)
        let rule = AllowRule(userNames: ["alice"], groupNames: [], users: [1000], groups: [], location: place)
        try await withDaemon(handlerRule: rule, Self.map) { daemon in
            var clients: [String: TestClient] = [:]
            var unordered: [String] = []
            for line in block.split(separator: "\n") {
                let parts = try #require(line.wholeMatch(of: /([AB]?)(→|←\*?) (.*)/)?.output)
                let client = clients[String(parts.1)] ?? daemon.connect()
                clients[String(parts.1)] = client
                switch parts.2 {
                case "→": client.send(String(parts.3))
                case "←": #expect(matches(await client.next(), String(parts.3)))
                default: unordered.append(String(parts.3))
                }
            }
            for _ in unordered.indices {
                let line = try #require(await clients[""]?.next())
                #expect(unordered.contains(line), "\(line)")
                unordered.removeAll { $0 == line }
            }
        }
    }

    private func matches(_ line: String, _ pattern: String) -> Bool {
        let isSame = pattern.split(separator: "…", omittingEmptySubsequences: false).count == 1
        if isSame { return line == pattern }
        var rest = line[...]
        for part in pattern.split(separator: "…") {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }

    /// The commands that the examples speak of.
    private static func map(_ mappings: inout TestMappings) {
        func parameter(_ name: String, _ kind: Parameter.Kind, _ change: (inout Parameter) -> Void) -> Parameter {
            var parameter = Parameter(name, kind)
            change(&parameter)
            return parameter
        }
        mappings.mapShipped()
        mappings.map("echo", .bco { call in .result(.array(call.arguments)) })
        mappings.map("slow", .waitsForEver)
        mappings.map("lamp", .script("brighten", .business))
        mappings.map("rec", users: [], groups: ["audio"])
        mappings.map(
            "loc",
            .bco { _ in .result([51.5007, -0.1246, 35.0, 4.2]) },
            .vco { call in .reply(call.results.last?.value ?? .null, under: "showLoc") },
            parameters: []
        )
        mappings.map(
            "play",
            parameters: [
                Parameter("file", .string),
                parameter("verb", .string) { $0.oneOf = ["start", "stop"] },
                parameter("loops", .integer) { ($0.minimum, $0.isOptional) = (1, true) },
                parameter("options", .object) { $0.isOptional = true },
            ]
        )
    }
}
