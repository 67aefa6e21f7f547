import JSON
import Linux
import QuickConnect
import Testing

@Suite("What the log keeps of what callers say")
struct ExcerptTests {
    /// The value in both ways a message has it.
    private static func messages(_ value: JSONValue) -> [Message] {
        let bytes = SharedBytes(value.text)
        return [.value(value), .text(JSONText(checked: bytes, 0..<bytes.count))]
    }

    @Test(arguments: ["null", "[1,2.5,\"x\"]", "{\"a\":[{}],\"b\":true}"])
    func `a short value is written whole`(text: String) throws {
        for message in Self.messages(try JSONParser.parse(text)) { #expect(message.excerpt(atMost: 100) == text) }
    }

    @Test func `a string is written as its own text`() {
        for message in Self.messages("a \"b\"\n") { #expect(message.excerpt(atMost: 100) == "a \"b\"\n") }
    }

    @Test func `of a long one little more than the limit is written`() {
        let long = JSONValue.string(String(repeating: "é", count: 1_000_000))
        let values: [JSONValue] = [
            long, [long, long], ["a": ["b": long], "c": long], .array(Array(repeating: 7, count: 1_000_000)),
            .object(JSONObject((0..<10_000).map { ("\($0)", JSONValue.null) })),
        ]
        for value in values {
            for message in Self.messages(value) {
                let excerpt = message.excerpt(atMost: 200)
                #expect(excerpt.utf8.count <= 210 && excerpt.hasSuffix("…"))
            }
        }
    }

    @Test func `a string that is cut within an escape shows nothing of that escape`() {
        let text = "é\n\"\\/\u{1}𝄞" + String(repeating: "x", count: 50)
        for limit in 1...30 {
            for message in Self.messages(.string(text)) {
                let excerpt = message.excerpt(atMost: limit).dropLast()
                #expect(excerpt.unicodeScalars.allSatisfy { text.unicodeScalars.contains($0) || $0 == "\u{FFFD}" })
            }
        }
    }

    @Test func `control characters and line ends of any kind are escaped`() {
        #expect("a\nb\r\nc\td".escapingControls == "a\\nb\\r\\nc\\td")
        #expect("\u{1b}[2J\u{2028}\u{7f}\u{85}".escapingControls == "\\u{1b}[2J\\u{2028}\\u{7f}\\u{85}")
    }
}
