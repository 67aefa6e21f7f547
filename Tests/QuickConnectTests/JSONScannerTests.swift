import TestRig
import Testing

@testable import JSON

@Suite("JSON is checked without making values")
struct JSONScannerTests {
    /// What the scanner says of a text, and where the value in it is.
    private struct Scan {
        var value: Result<Range<Int>, JSONError>
        var problem: JSONError?
    }

    private static func scan(_ bytes: [UInt8], maximumDepth: Int = 512) -> Scan {
        bytes.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes, maximumDepth: maximumDepth)
            let value = Result { () throws(JSONError) in
                scanner.skipWhiteSpace()
                let start = scanner.position
                try scanner.skipValue()
                let end = scanner.position
                try scanner.finish()
                return start..<end
            }
            return Scan(value: value, problem: scanner.problem?.error)
        }
    }

    private static func scan(_ text: String, maximumDepth: Int = 512) -> Scan {
        scan(Array(text.utf8), maximumDepth: maximumDepth)
    }

    /// The value of a text, kept as bytes and then built.
    private static func text(_ text: String) throws -> JSONText {
        let scan = scan(text)
        #expect(scan.problem == nil)
        return JSONText(checked: SharedBytes(text), try scan.value.get())
    }

    private static func isSyntax(_ error: JSONError?) -> Bool {
        if case .syntax? = error { true } else { false }
    }

    private static func error(_ scan: Scan) -> JSONError? {
        if case .failure(let error) = scan.value { error } else { nil }
    }

    // MARK: RFC 8259

    @Test("JSON is passed over, and what is kept of it is the value", arguments: JSONParserTests.texts)
    func accepted(text: String, value: JSONValue) throws { #expect(try Self.text(text).value == value) }

    @Test("Numbers are passed over, and what is kept of them is the value", arguments: JSONParserTests.numberTexts)
    func numbers(text: String, value: JSONValue) throws {
        let kept = try Self.text(text)
        #expect(kept.value == value && kept.kind == .number)
        #expect(kept.integerValue == value.integerValue && kept.numberValue == value.numberValue)
        #expect(kept.stringValue == nil)
    }

    @Test("What is no JSON is refused", arguments: JSONParserTests.noTexts)
    func refused(text: String) { #expect(Self.isSyntax(Self.error(Self.scan(text)))) }

    @Test("What is no number is refused", arguments: JSONParserTests.noNumberTexts)
    func noNumbers(text: String) {
        #expect(Self.isSyntax(Self.error(Self.scan(text))))
        #expect(Self.isSyntax(Self.error(Self.scan("[\(text)]"))) || text == "1,000")
        #expect(Self.isSyntax(Self.error(Self.scan(#"{"a":\#(text)}"#))))
    }

    @Test(
        "Strings with escapes are passed over, and what is kept of them is the text",
        arguments: JSONParserTests.escapeTexts
    )
    func escapes(text: String, value: String) throws {
        let kept = try Self.text(text)
        #expect(kept.stringValue.map { Array($0.utf8) } == Array(value.utf8))
        #expect(kept.integerValue == nil && kept.numberValue == nil && !kept.isNull)
    }

    @Test("What cannot be kept is passed over, and noted", arguments: JSONParserTests.unrepresentableTexts)
    func unrepresentable(text: String) throws {
        let scan = Self.scan(text)
        #expect(try scan.value.get() == 0..<text.utf8.count)
        guard case .unrepresentable? = scan.problem else {
            Issue.record("\(String(describing: scan.problem))")
            return
        }
    }

    @Test("Text behind what cannot be kept makes it no JSON at all", arguments: JSONParserTests.brokenTexts)
    func brokenTexts(text: String) { #expect(Self.isSyntax(Self.error(Self.scan(text)))) }

    @Test("A string that is not UTF-8 is refused", arguments: JSONParserTests.notUTF8Bytes)
    func notUTF8(bytes: [UInt8]) {
        for padding in 0..<20 {
            let text = [0x22] + [UInt8](repeating: 0x61, count: padding) + bytes + [0x22]
            #expect(Self.isSyntax(Self.error(Self.scan(text))))
        }
        #expect(Self.isSyntax(Self.error(Self.scan(bytes))))
    }

    @Test("The first problem counts")
    func firstProblem() {
        let text = Array(#"[1e999,"\ud800"]"#.utf8)
        text.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes)
            #expect(throws: Never.self) { try scanner.skipValue() }
            #expect(scanner.problem?.error == .unrepresentable("a number too large for a double", offset: 1))
        }
    }

    @Test("An error says at which byte, and the byte behind the value is where it ended")
    func offsets() {
        #expect(Self.error(Self.scan("[1,x]")) == .syntax("unexpected character", offset: 3))
        #expect(Self.error(Self.scan("1 2")) == .syntax("unexpected text after the value", offset: 2))
        #expect(Self.error(Self.scan("\"ab\u{1}\"")) == .syntax("a control character in a string", offset: 3))
    }

    // MARK: Depth

    /// Brackets inside each other, of both kinds in turn as the bits of `pattern` say.
    private static func nested(_ depth: Int, pattern: UInt64) -> (open: String, close: [Character]) {
        var (open, close) = ("", [Character]())
        for level in 0..<depth {
            let isObject = pattern >> UInt64(level % 64) & 1 == 1
            open += isObject ? #"{"a":"# : "["
            close.append(isObject ? "}" : "]")
        }
        return (open, close)
    }

    @Test(
        "Arrays and objects inside each other are closed by their own brackets, at any depth",
        arguments: [0, ~0, 0xAAAA_AAAA_AAAA_AAAA, 0x0123_4567_89AB_CDEF, 0x8000_0000_0000_0001] as [UInt64]
    )
    func nesting(pattern: UInt64) {
        for depth in [1, 2, 63, 64, 65, 66, 127, 128, 129, 200, 512] {
            let (open, close) = Self.nested(depth, pattern: pattern)
            let good = open + "1" + String(close.reversed())
            #expect(throws: Never.self) { try Self.scan(good).value.get() }
            #expect(Self.scan(good).problem == nil)
            #expect(Self.isSyntax(Self.error(Self.scan(good + "]"))))
            #expect(Self.isSyntax(Self.error(Self.scan(String(good.dropLast())))))
            for level in Set([0, depth / 2, depth - 1, min(depth - 1, 63), min(depth - 1, 64)]) {
                var wrong = close
                wrong[level] = wrong[level] == "]" ? "}" : "]"
                #expect(
                    Self.isSyntax(Self.error(Self.scan(open + "1" + String(wrong.reversed())))),
                    "\(depth) \(level)"
                )
            }
            // Behind an inner one that is closed the outer ones go on as what they are.
            let member = close.last == "}" ? #","b":2"# : ",2"
            #expect(throws: Never.self) { try Self.scan(open + "1" + member + String(close.reversed())).value.get() }
        }
    }

    @Test("At the limit of depth all is read, one more is noted and passed over, so that what is behind is read")
    func limit() throws {
        for limit in [1, 2, 63, 64, 65, 512, 4096] {
            let text = String(repeating: "[", count: limit) + String(repeating: "]", count: limit)
            #expect(Self.scan(text, maximumDepth: limit).problem == nil)
            let deeper = Self.scan("[\(text)]", maximumDepth: limit)
            #expect(try deeper.value.get() == 0..<(text.utf8.count + 2))
            #expect(deeper.problem == .tooDeep(limit: limit))
        }
        let whole = Self.scan(#"{"a":[["]"]],"b":1}"#, maximumDepth: 2)
        #expect(try whole.value.get() == 0..<19)
        #expect(whole.problem == .tooDeep(limit: 2))
        #expect(Self.isSyntax(Self.error(Self.scan(#"{"a":[[1]],"b":x}"#, maximumDepth: 2))))
        #expect(Self.error(Self.scan(String(repeating: "[", count: 100_000))) == .tooDeep(limit: 512))
    }

    @Test("A value counts the arrays and objects that it stands in")
    func outerDepth() {
        let bytes = Array("[[]]".utf8)
        bytes.withUnsafeBufferPointer { bytes in
            for depth in 0...3 {
                var scanner = JSONScanner(bytes, maximumDepth: 4)
                #expect(throws: Never.self) { try scanner.skipValue(depth: depth) }
                #expect((scanner.problem == nil) == (depth <= 2))
                var items = JSONScanner(bytes, maximumDepth: 4)
                #expect(throws: Never.self) { try items.skipArray(depth: depth) { _ in } }
                #expect((items.problem == nil) == (depth <= 2))
            }
        }
    }

    // MARK: Strings, eight bytes at a time

    /// What a string of these bytes must be, looked at byte by byte: nil where it is none.
    private static func end(ofString bytes: [UInt8]) -> Int? {
        var index = 1
        while index < bytes.count {
            switch bytes[index] {
            case 0x22: return index + 1
            case 0x5C:
                guard index + 1 < bytes.count, #""\/bfnrt"#.utf8.contains(bytes[index + 1]) else { return nil }
                index += 2
            case 0..<0x20, 0x80...: return nil
            default: index += 1
            }
        }
        return nil
    }

    @Test("Each byte at each place of a string is what it is")
    func everyByteEverywhere() {
        for special in UInt8.min...UInt8.max {
            for offset in 0...24 {
                var bytes: [UInt8] = [0x22] + [UInt8](repeating: 0x61, count: 32) + [0x22]
                bytes[1 + offset] = special
                let expected = Self.end(ofString: bytes)
                bytes.withUnsafeBufferPointer { buffer in
                    var scanner = JSONScanner(buffer)
                    let range = try? scanner.string()
                    #expect(range.map { $0.upperBound + 1 } == expected, "\(special) at \(offset)")
                    if expected != nil { #expect(scanner.position == expected && range?.lowerBound == 1) }
                }
            }
        }
    }

    @Test("A quote, an escape, a control character and a letter of several bytes are found at each offset")
    func specials() throws {
        for offset in 0...16 {
            for behind in [0, 1, 7, 8, 9, 20] {
                let (front, back) = (String(repeating: "a", count: offset), String(repeating: "b", count: behind))
                for (special, meaning) in [
                    ("\\n", "\n"), ("é", "é"), ("𝄞", "𝄞"), ("\\u00e9", "é"), ("\u{7F}", "\u{7F}"),
                ] {
                    let text = try Self.text("\"\(front)\(special)\(back)\"")
                    #expect(text.stringValue == front + meaning + back)
                }
                let quoted = Self.error(Self.scan("\"\(front)\"\(back)\""))
                #expect(quoted == .syntax("unexpected text after the value", offset: offset + 2))
                for control in ["\u{0}", "\u{1F}", "\n"] {
                    let error = Self.error(Self.scan("\"\(front)\(control)\(back)\""))
                    #expect(error == .syntax("a control character in a string", offset: offset + 1))
                }
                #expect(
                    Self.error(Self.scan("\"\(front)\(back)"))
                        == .syntax("a string does not end", offset: 1 + offset + behind)
                )
            }
        }
    }

    // MARK: Parts

    @Test("An array tells where its items are, an object where the names of its members are")
    func parts() throws {
        let text = #"{ "a" : [ 1 , "x,]" ,[2]] , "b\n":null }"#
        let bytes = Array(text.utf8)
        try bytes.withUnsafeBufferPointer { bytes in
            func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
            var (names, items) = ([String](), [String]())
            var scanner = JSONScanner(bytes)
            try scanner.skipObject { (scanner, name) throws(JSONError) in
                names.append(text(name))
                if scanner.next == UInt8(ascii: "[") {
                    try scanner.skipArray(depth: 1) { items.append(text($0)) }
                } else {
                    try scanner.skipValue(depth: 1)
                }
            }
            #expect(names == ["a", #"b\n"#] && items == ["1", #""x,]""#, "[2]"])
            #expect(scanner.isAtEnd)
            var empty = JSONScanner(bytes)
            #expect(!empty.skip(UInt8(ascii: "[")) && empty.skip(UInt8(ascii: "{")) && empty.position == 1)
        }
        for wrong in ["[1,]", "[1", "[1 2]", "[,1]", "[1}"] {
            let bytes = Array(wrong.utf8)
            bytes.withUnsafeBufferPointer { bytes in
                var scanner = JSONScanner(bytes)
                #expect(throws: JSONError.self) { try scanner.skipArray(depth: 0) { _ in } }
            }
        }
        for wrong in ["{\"a\":1,}", "{\"a\":1", "{\"a\" 1}", "{,}", "{\"a\":1 \"b\":2}", "{1:1}"] {
            let bytes = Array(wrong.utf8)
            bytes.withUnsafeBufferPointer { bytes in
                var scanner = JSONScanner(bytes)
                #expect(throws: JSONError.self) {
                    try scanner.skipObject { (scanner, _) throws(JSONError) in try scanner.skipValue(depth: 1) }
                }
            }
        }
    }

    @Test("Members come in their order, of a name that is there twice both, until somebody has enough")
    func members() throws {
        let text = try Self.text(#" { "a" : [1] , "b\u0041" : {"c":2} ,"a":null , "" : "x" } "#)
        var members: [(String, JSONValue)] = []
        let isObject = text.forEachMember {
            members.append(($0, $1.value))
            return true
        }
        #expect(isObject)
        #expect(members.map(\.0) == ["a", "bA", "a", ""])
        #expect(members.map(\.1) == [[1], ["c": 2], nil, "x"])
        var count = 0
        text.forEachMember { _, _ in
            count += 1
            return count < 2
        }
        #expect(count == 2)
        for other in ["[]", "1", "\"{}\"", "null"] {
            #expect(try !Self.text(other).forEachMember { _, _ in false })
        }
        #expect(
            try Self.text("{ }").forEachMember { _, _ in
                Issue.record("there is none")
                return true
            }
        )
        // A part of a part.
        text.forEachMember { name, value in
            value.forEachMember { inner, value in
                #expect(name == "bA" && inner == "c" && value.integerValue == 2)
                return true
            }
            return true
        }
    }

    @Test("A text's kind is told by its first byte")
    func kinds() throws {
        let kinds: [(String, JSONKind)] = [
            ("null", .null), ("true", .boolean), ("false", .boolean), ("-1", .number), ("0", .number),
            ("\"\"", .string),
            ("[]", .array), ("{}", .object),
        ]
        for (text, kind) in kinds {
            let kept = try Self.text(text)
            #expect(kept.kind == kind && kept.count == text.utf8.count && kept.isNull == (kind == .null))
        }
        #expect(JSONKind(firstByte: nil) == .null)
    }

    // MARK: UTF-8

    @Test("Random bytes are UTF-8 exactly where the standard library says so", arguments: 0..<4)
    func utf8(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let edges: [UInt8] = [
            0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
            0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        var valid = 0
        for _ in 0..<50_000 {
            let bytes = (0..<random.below(6)).map { _ in
                random.below(4) == 0 ? UInt8(random.below(256)) : random.pick(edges)
            }
            let expected = String(validating: bytes, as: UTF8.self) != nil
            let isValid = bytes.withUnsafeBufferPointer { UTF8Text.isValid($0) }
            #expect(isValid == expected, "\(bytes)")
            if expected { valid += 1 }
        }
        #expect(valid > 5000)
    }

    @Test("Every character has the length that it is encoded in")
    func characters() {
        for value in stride(from: UInt32(0), to: 0x11_0000, by: 7) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let bytes = Array(String(scalar).utf8)
            let length = bytes.withUnsafeBufferPointer { UTF8Text.length(at: 0, in: $0) }
            #expect(length == bytes.count)
        }
    }
}
