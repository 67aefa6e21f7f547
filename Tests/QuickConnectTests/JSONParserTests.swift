import JSON
import Testing

@Suite("JSON is read strictly, as RFC 8259 has it")
struct JSONParserTests {
    private static func bytes(_ items: [UInt8]) -> Result<JSONValue, JSONError> {
        Result { () throws(JSONError) in try JSONParser.parse(items.span) }
    }

    static let texts: [(String, JSONValue)] = [
        ("null", nil), ("true", true), ("false", false), (" \t\r\n1\t\r\n ", 1), ("\"\"", ""), ("[]", []),
        ("{}", [:]), ("[ ]", []), ("{ }", [:]), ("[1,2]", [1, 2]), ("[[],[[]]]", [[], [[]]]),
        ("{\"a\":{\"b\":[null]}}", ["a": ["b": [nil]]]), ("{\"\":0}", ["": 0]),
        ("[null,1,\"1\",{}]", [nil, 1, "1", [:]]),
        ("\"\u{7F}\"", "\u{7F}"), ("\"\u{2028}\u{2029}\"", "\u{2028}\u{2029}"), ("\"€𝄞\"", "€𝄞"),
        ("\"\u{FFFF}\"", "\u{FFFF}"), ("\"\\u0000\"", "\u{0}"), ("\"a/b\"", "a/b"),
        ("[\"a\",\n\t{\"b\" : 1 }\n]", ["a", ["b": 1]]),
    ]

    @Test("These texts are JSON", arguments: texts)
    func accepted(text: String, value: JSONValue) throws {
        #expect(try JSONParser.parse(text) == value)
    }

    static let noTexts: [String] = [
        "", " ", "nul", "nulll", "True", "TRUE", "NaN", "Infinity", "-Infinity", "undefined", "'a'", "a", "<null>",
        "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1,,2]", "[1 2]", "[,]", "[1]]", "[\"a\"", "[1}", "[a", "[\u{B}]",
        "{", "}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{\"a\",1}", "{\"a\" 1}", "{a:1}",
        "{1:1}", "{\"a\"::1}", "{\"a\":1 \"b\":2}", "{,}", "{'a':1}", "{\"a\":1}}", "{null:1}",
        "{\"a\":1,,\"b\":2}",
        "\"", "\"a", "\"a\\", "\"\\\"", "\"\\x\"", "\"\\a\"", "\"\\'\"", "\"\\u\"", "\"\\u1\"", "\"\\u12\"",
        "\"\\u123\"", "\"\\u123G\"", "\"\\U0041\"", "\"\\u 041\"", "\"\\u+041\"", "\"\\ud834\\u12G4\"",
        "\"a\nb\"", "\"a\tb\"", "\"a\u{0}b\"", "\"\u{1F}\"", "\"\r\"",
        "1 2", "null null", "[] []", "{} ,", "1,", "// a\n1", "/* a */ 1", "1 # a", "\u{FEFF}1", "\u{A0}1",
        "1\u{A0}",
        "\u{2028}1", "[1\u{0}]", "1\u{0}", "\\u0031", "*", "?", "&", "@", "~",
    ]

    @Test("These texts are not JSON", arguments: noTexts)
    func refused(text: String) {
        #expect { try JSONParser.parse(text) } throws: { error in
            if case .syntax? = error as? JSONError { true } else { false }
        }
    }

    static let numberTexts: [(String, JSONValue)] = [
        ("0", 0), ("-1", -1), ("10", 10), ("9007199254740993", 9_007_199_254_740_993),
        ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
        ("9223372036854775808", .number(9223372036854775808)), ("-0", .number(-0.0)), ("0.0", .number(0)),
        ("1.0", .number(1)), ("1.5", 1.5), ("-1.5", -1.5), ("1e2", .number(100)), ("1E2", .number(100)),
        ("1e+2", .number(100)), ("1e-2", 0.01), ("0e0", .number(0)), ("0.5e-3", 0.0005), ("123.456e78", 123.456e78),
        ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)), ("5e-324", .number(.leastNonzeroMagnitude)),
        ("1e-400", .number(0)), ("0.1", 0.1), ("2e00000000000000000001", .number(20)),
    ]

    @Test("These numbers are JSON: integers of 64 bits stay integers", arguments: numberTexts)
    func numbers(text: String, value: JSONValue) throws {
        let parsed = try JSONParser.parse(text)
        #expect(parsed == value)
        #expect(parsed.numberValue?.sign == value.numberValue?.sign)
    }

    static let noNumberTexts: [String] = [
        "-", "+1", "--1", "01", "-01", "00", "0x1", "1.", ".5", "-.5", "1.e1", "1e", "1e+", "1e-", "1E", "1e1.5",
        "1.2.3", "1_000", "1,000", "0e", "0.e1", "1 000", "1a", "-a", "- 1", "１", "1e٣", "∞", "1f", "1.0f", "1-1",
    ]

    @Test("These are no numbers", arguments: noNumberTexts)
    func noNumbers(text: String) {
        #expect(throws: JSONError.self) { try JSONParser.parse(text) }
        #expect(throws: JSONError.self) { try JSONParser.parse("[\(text)]") }
    }

    static let escapeTexts: [(String, String)] = [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u20AC""#, "Aé€"),
        (#""\ud834\udd1e""#, "𝄞"), (#""\uD834\uDD1E""#, "𝄞"), (#""\ud83d\ude00\ud83d\ude00""#, "😀😀"),
        (#""\uFFFF\uFFFE""#, "\u{FFFF}\u{FFFE}"), (#""\udbff\udfff""#, "\u{10FFFF}"),
        (#""\ud7ff\ue000""#, "\u{D7FF}\u{E000}"),
        (#""a\\u0041""#, "a\\u0041"), (#""\u005c\u0022""#, "\\\""), (#""plain \u0061 plain""#, "plain a plain"),
    ]

    @Test("Escapes stand for their characters, surrogate pairs for one", arguments: escapeTexts)
    func escapes(text: String, value: String) throws {
        #expect(try JSONParser.parse(text).stringValue.map { Array($0.utf8) } == Array(value.utf8))
    }

    static let unrepresentableTexts: [String] = [
        #""\ud800""#, #""\udc00""#, #""\ud800\ud800""#, #""\ud800\n""#, #""\ud800a""#, #""\ud800\u0041""#,
        #""\udc00\ud800""#, #"{"a":["\ud834"]}"#, #"{"\ud834":1}"#, "1e400", "-1e400", "[1,2e999]",
    ]

    @Test(
        "Half a surrogate pair and a number beyond a double are JSON that cannot be kept",
        arguments: unrepresentableTexts
    )
    func unrepresentable(text: String) {
        #expect { try JSONParser.parse(text) } throws: { error in
            if case .unrepresentable? = error as? JSONError { true } else { false }
        }
    }

    static let brokenTexts: [String] = ["1e400 apples", #""\ud800" x"#, "[1e400"]

    @Test("Text behind what cannot be kept makes it no JSON at all", arguments: brokenTexts)
    func unrepresentableAndNotJSON(text: String) {
        #expect { try JSONParser.parse(text) } throws: { error in
            if case .syntax? = error as? JSONError { true } else { false }
        }
    }

    static let notUTF8Bytes: [[UInt8]] = [
        [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
        [0xE2, 0x82], [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFE],
        [0xF8, 0x88, 0x80, 0x80, 0x80],
    ]

    @Test("A string that is not UTF-8 is not JSON", arguments: notUTF8Bytes)
    func notUTF8(bytes: [UInt8]) {
        for text in [[0x22] + bytes + [0x22], [0x22, 0x5C, 0x6E] + bytes + [0x22], bytes] {
            #expect(throws: JSONError.self) { try Self.bytes(text).get() }
        }
    }

    @Test("512 arrays and objects inside each other are read, 513 are too deep, whatever the limit says")
    func depth() throws {
        for limit in [1, 2, 512] {
            let good = [
                String(repeating: "[", count: limit) + String(repeating: "]", count: limit),
                String(repeating: #"{"a":"#, count: limit - 1) + "{}" + String(repeating: "}", count: limit - 1),
            ]
            for text in good {
                #expect(throws: Never.self) { try JSONParser.parse(text, maximumDepth: limit) }
                for deeper in ["[\(text)]", #"{"a":\#(text)}"#, "[1,\(text),2]"] {
                    #expect(throws: JSONError.tooDeep(limit: limit)) {
                        try JSONParser.parse(deeper, maximumDepth: limit)
                    }
                }
            }
        }
        #expect(throws: JSONError.tooDeep(limit: 512)) {
            try JSONParser.parse(String(repeating: "[", count: 1_000_000))
        }
        #expect(throws: JSONError.tooDeep(limit: 512)) {
            try JSONParser.parse(String(repeating: #"{"a":"#, count: 300_000))
        }
    }

    @Test("Members keep their order; of a name that is there twice the last value counts, in the first one's place")
    func order() throws {
        let value = try JSONParser.parse(#"{"z":1,"a":2,"m":3,"a":4}"#)
        #expect(value.text == #"{"z":1,"a":4,"m":3}"#)
    }

    @Test("Names are the same only byte for byte")
    func names() throws {
        let text = "{\"\u{E9}\":1,\"e\u{301}\":2}"
        let value = try JSONParser.parse(text)
        #expect(value.text.utf8.elementsEqual(text.utf8))
        #expect(value.objectValue?["\u{E9}"] == 1)
        #expect(value.objectValue?["e\u{301}"] == 2)
    }

    @Test(
        "An error says what is wrong and at which byte",
        arguments: [
            ("[1,x]", "unexpected character at byte 3"), ("[1", "',' or ']' is missing at byte 2"),
            (#"{"a" 1}"#, "':' is missing at byte 5"), ("1 2", "unexpected text after the value at byte 2"),
            ("\"a", "a string does not end at byte 2"), ("-", "a digit is missing at byte 1"),
        ]
    )
    func messages(text: String, message: String) {
        #expect { try JSONParser.parse(text) } throws: { ($0 as? JSONError)?.message == message }
    }

    @Test("Long texts take time in proportion to their length")
    func longTexts() throws {
        let count = 200_000
        let texts = [
            "\"" + String(repeating: "a", count: count) + "\"", "\"" + String(repeating: "\\n", count: count) + "\"",
            "[" + String(repeating: "1,", count: count) + "1]", "0." + String(repeating: "3", count: count),
            "0." + String(repeating: "0", count: count) + "1", String(repeating: " ", count: count) + "1",
        ]
        for text in texts { #expect(throws: Never.self) { try JSONParser.parse(text) } }
        #expect(throws: JSONError.self) { try JSONParser.parse(String(repeating: "9", count: count)) }
    }
}
