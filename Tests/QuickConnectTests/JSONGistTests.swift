import JSON
import TestRig
import Testing

/// What messages say of a value that came, from the value and from its bytes.
@Suite("The gist of a value")
struct JSONGistTests {
    /// The bytes of a JSON text, as those of a request.
    private func text(_ json: String) -> JSONText {
        JSONText(checked: SharedBytes(json), 0..<json.utf8.count)
    }

    @Test(
        "A short value is shown, a large one named",
        arguments: [
            ("null", "null"), ("true", "true"), ("7", "the number 7"), ("-0.5", "the number -0.5"),
            ("1e400", "a number that is too large"), ("\"\"", "an empty string"), ("\"abc\"", "the string \"abc\""),
            ("\"a\\\"b\\n\"", "the string \"a\\\"b\\n\""), ("[]", "an empty array"), ("[1, 2]", "the array [1,2]"),
            ("{}", "an empty object"), ("{\"a\": [1]}", "the object {\"a\":[1]}"),
            ("[\"\(String(repeating: "x", count: 60))\"]", "an array"),
            ("{\"a\": \"\(String(repeating: "x", count: 60))\"}", "an object"),
        ]
    )
    func words(json: String, gist: String) throws {
        #expect(text(json).gist == gist)
        if json != "1e400" { #expect(try JSONParser.parse(json).gist == gist) }
    }

    @Test(
        "A long string is cut between characters and escapes, with a sign",
        arguments: ["x", "ä", "𝄞", "\\u00e9", "\\ud834\\udd1e", "\\n", "\\\\"]
    )
    func long(part: String) throws {
        for count in Array(1...90) + [500] {
            let json = "\"\(String(repeating: part, count: count))\""
            let original = try #require(try JSONParser.parse(json).stringValue)
            let cost = original.unicodeScalars.reduce(0) { $0 + ($1.value < 0x20 ? 6 : $1.utf8.count) }
            for gist in [text(json).gist, try JSONParser.parse(json).gist] {
                #expect(
                    gist.hasPrefix("the string \"") && gist.utf8.count <= 110 && !gist.contains("\u{fffd}"),
                    "\(gist)"
                )
                let shown = try #require(try JSONParser.parse(String(gist.dropFirst(11))).stringValue, "\(gist)")
                if cost <= 40 {
                    #expect(shown == original)
                } else {
                    #expect(shown.last == "…" && original.hasPrefix(shown.dropLast()), "\(gist)")
                    #expect(shown.utf8.count > 6, "\(gist)")
                }
            }
        }
    }

    @Test("However large a value is, its gist is short")
    func bounded() {
        for value in large() { #expect(value.gist.utf8.count < 110) }
        let names = JSONValue.object(["a": .array(Array(repeating: .string("b"), count: 100_000))])
        #expect(names.gist == "an object")
    }

    @Test("However large a value is, its gist is made at once", .measured)
    func quick() {
        let large = large()
        let time = ContinuousClock().measure {
            for value in large { for _ in 0..<100 { #expect(value.gist.utf8.count < 110) } }
        }
        // A look at all of their bytes would take more than a second.
        #expect(time < .milliseconds(500), "\(time)")
    }

    private func large() -> [JSONText] {
        let size = 4 << 20
        return [
            "\"\(String(repeating: "x", count: size))\"", "[\(String(repeating: "1,", count: size / 2))1]",
            String(repeating: "9", count: size), "{\"\(String(repeating: "n", count: size))\":1}",
            String(repeating: "[", count: 500) + String(repeating: "]", count: 500),
        ].map(text)
    }
}
