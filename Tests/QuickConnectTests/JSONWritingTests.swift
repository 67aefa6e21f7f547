import JSON
import TestRig
import Testing

@Suite("JSON is written compactly, on one line")
struct JSONWritingTests {
    @Test(
        "Values are written as they are read",
        arguments: [
            "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "1.5", "-0.0", "0.1",
            "1e+16", "5e-324", "1.7976931348623157e+308", "100.0", "51.5007", "-0.1246", "\"\"", "\"a\"", "[]", "{}",
            "[1,[2,[3]]]", #"{"a":{"b":[null,true]},"":""}"#, #"{"b":1,"a":2}"#, "\"é€𝄞\u{7F}\u{2028}\"",
        ]
    )
    func roundTrip(text: String) throws {
        #expect(try JSONParser.parse(text).text == text)
    }

    @Test("Control characters, quotes and backslashes are escaped, nothing else is")
    func escapes() {
        let all = String(String.UnicodeScalarView((0..<0x20).compactMap(Unicode.Scalar.init)))
        #expect(
            JSONValue.string(all + "\"\\/\u{7F}é\u{2029}").text == #"""
                "\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000B\f\r\u000E\u000F\u0010\u0011\u0012\u0013\#
                \u0014\u0015\u0016\u0017\u0018\u0019\u001A\u001B\u001C\u001D\u001E\u001F\"\\/
                """# + "\u{7F}é\u{2029}\""
        )
    }

    @Test(
        "What JSON has no number for is written as null",
        arguments: [Double.infinity, -.infinity, .nan, .signalingNaN]
    )
    func noNumber(value: Double) {
        #expect(JSONValue.array([.number(value)]).text == "[null]")
    }

    @Test("Every double comes back as it was")
    func doubles() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            let number = Double(bitPattern: random.next())
            guard number.isFinite else { continue }
            let text = JSONValue.number(number).text
            #expect(try JSONParser.parse(text).numberValue == number)
        }
    }

    @Test("Every random value comes back as it was")
    func randomValues() throws {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<3000 {
            let value = random.value(depth: 4)
            #expect(try JSONParser.parse(value.text) == value)
            #expect(!value.text.utf8.contains(0x0A))
        }
    }
}
