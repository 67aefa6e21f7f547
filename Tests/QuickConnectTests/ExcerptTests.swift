import JSON
import QuickConnect
import Testing

@Suite("What the log keeps of what callers say")
struct ExcerptTests {
    @Test(arguments: ["null", "[1,2.5,\"x\"]", "{\"a\":[{}],\"b\":true}"])
    func `a short value is written whole`(text: String) throws {
        #expect(try JSONParser.parse(text).text(atMost: 100) == text)
    }

    @Test func `of a long one little more than the limit is written`() {
        let long = JSONValue.string(String(repeating: "é", count: 1_000_000))
        let values: [JSONValue] = [
            long, [long, long], ["a": ["b": long], "c": long], .array(Array(repeating: 7, count: 1_000_000)),
            .object(JSONObject((0..<10_000).map { ("\($0)", JSONValue.null) })),
        ]
        for value in values { #expect(value.text(atMost: 200).utf8.count < 1300) }
    }

    @Test func `control characters and line ends of any kind are escaped`() {
        #expect("a\nb\r\nc\td".escapingControls == "a\\nb\\r\\nc\\td")
        #expect("\u{1b}[2J\u{2028}\u{7f}\u{85}".escapingControls == "\\u{1b}[2J\\u{2028}\\u{7f}\\u{85}")
    }
}
