import TestRig
import Testing

@testable import JSON
@testable import QuickConnect

@Suite("Lines that are being written")
struct OutputBufferTests {
    private static func json(bytes count: Int, of letter: String = "x") -> JSONText {
        let text = "\"" + String(repeating: letter, count: count - 2) + "\""
        return JSONText(checked: SharedBytes(text), 0..<text.utf8.count)
    }

    private static func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

    @Test("A text of up to 64 KiB is copied in, a longer one is attached where it belongs")
    func attachments() {
        let buffer = OutputBuffer()
        let small = Self.json(bytes: OutputBuffer.largeText)
        let (plain, percent) = (Self.json(bytes: OutputBuffer.largeText + 1), Self.json(bytes: 100_000, of: "é"))
        buffer.append("first ")
        buffer.append(small, as: .plain)
        #expect(buffer.attachments.isEmpty && buffer.count == 6 + small.count)
        buffer.append(" second ")
        buffer.append(plain, as: .plain)
        buffer.append(percent, as: .percent)
        buffer.append(" third")
        #expect(buffer.attachments.map(\.position) == [14 + small.count, 14 + small.count])
        #expect(buffer.count == 20 + small.count)
        var expected = "first " + Self.text(small.withBytes { Array($0) }) + " second "
        expected += Self.text(plain.withBytes { Array($0) })
        expected += PercentEncoding.encode(Self.text(percent.withBytes { Array($0) })) + " third"
        #expect(Self.text(buffer.flattened()) == expected)
        #expect(!buffer.isEmpty)
    }

    @Test("A line with a large text is the same as one with a small one, in either form", arguments: [100, 70_000])
    func lines(length: Int) throws {
        let text = String(repeating: "é\\\"", count: length)
        for (line, form) in [
            (
                #"{"handlerName":"a","data":["\#(String(repeating: "é\\\\\\\"", count: length))"],"callbackId":"7"}"#,
                WireForm.bridge
            ),
            ("call?cmd=a&msg=\(PercentEncoding.encode(JSONValue.array([.string(text)]).text))&id=7", .url),
        ] {
            guard case .call(let request)? = messages(of: Array(line.utf8)).first else {
                Issue.record("it is a call")
                continue
            }
            let buffer = OutputBuffer()
            let message = Message.text(request.parameter(0))
            let call = Call(keeping: request, CommandDescription("a"), on: NoConnection())
            buffer.appendReply(message, to: call, under: nil, isFinal: true)
            buffer.append(Event("e", message, kind: .message), form: form)
            #expect(buffer.attachments.count == (length > 1000 ? 2 : 0))
            let lines = Self.text(buffer.flattened()).split(separator: "\n", omittingEmptySubsequences: false)
            let json = JSONValue.string(text).text
            let expected =
                form == .url
                ? [
                    "handleJSONRequest?cmd=a&msg=\(PercentEncoding.encode(json))&id=7",
                    "handleJSONRequest?cmd=e&msg=\(PercentEncoding.encode(json))", "",
                ]
                : [#"{"responseId":"7","responseData":\#(json)}"#, #"{"handlerName":"e","data":\#(json)}"#, ""]
            #expect(lines.map(String.init) == expected)
        }
    }

    @Test("What is taken out is no longer in it, and another buffer takes it over, its attachments in their places")
    func contents() {
        let one = OutputBuffer()
        let large = Self.json(bytes: 80_000)
        one.append("a")
        one.append(large, as: .plain)
        one.append("b")
        let flat = one.flattened()
        let contents = one.take()
        #expect(one.isEmpty && one.count == 0 && one.attachments.isEmpty && one.flattened() == [])
        #expect(contents.bytes == Array("ab".utf8))
        let other = OutputBuffer()
        other.append("front ")
        other.append(contents)
        other.append(contents)
        other.append(" back")
        #expect(other.attachments.map(\.position) == [7, 9])
        #expect(other.flattened() == Array("front ".utf8) + flat + flat + Array(" back".utf8))
        let empty = OutputBuffer()
        empty.append(OutputBuffer().take())
        #expect(empty.isEmpty)
    }

    @Test("Percent-encoding is PercentEncoding's, for every byte")
    func percentEncoding() {
        let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()".utf8)
        let digits = Array("0123456789ABCDEF".utf8)
        let all = OutputBuffer(capacity: 1)
        var expected: [UInt8] = []
        for byte in UInt8.min...UInt8.max {
            let buffer = OutputBuffer(capacity: 1)
            [byte].withUnsafeBufferPointer { buffer.append($0, as: .percent) }
            let kept = unreserved.contains(byte)
            let encoded = kept ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            #expect(buffer.copy == encoded)
            #expect(URIComponent.keeps(byte) == kept)
            if byte < 0x80 {
                #expect(Self.text(encoded) == PercentEncoding.encode(String(Unicode.Scalar(byte))))
            }
            [byte].withUnsafeBufferPointer { all.appendPercentEncoded($0) }
            expected += encoded
        }
        #expect(all.copy == expected)
        let text = String(String.UnicodeScalarView((0..<0x3000).compactMap { Unicode.Scalar(UInt32($0)) }))
        let whole = OutputBuffer(capacity: 0)
        whole.appendPercentEncoded(text)
        #expect(whole.text == PercentEncoding.encode(text))
    }

    @Test("It grows as needed, from nothing, whatever is appended")
    func growth() {
        var random = SeededGenerator(seed: 11)
        for capacity in [0, 1, 7, 1024] {
            let buffer = OutputBuffer(capacity: capacity)
            var expected: [UInt8] = []
            for _ in 0..<2000 {
                let text = String(repeating: "é%", count: random.below(40))
                switch random.below(6) {
                case 0:
                    buffer.append(UInt8(ascii: "x"))
                    expected.append(UInt8(ascii: "x"))
                case 1:
                    buffer.append("static" as StaticString)
                    expected += Array("static".utf8)
                case 2:
                    buffer.append(text)
                    expected += Array(text.utf8)
                case 3:
                    buffer.append(Array(text.utf8))
                    expected += Array(text.utf8)
                case 4:
                    buffer.appendPercentEncoded(text)
                    expected += Array(PercentEncoding.encode(text).utf8)
                default:
                    buffer.append(json: text)
                    expected += Array("\"\(text)\"".utf8)
                }
            }
            #expect(buffer.copy == expected)
            #expect(buffer.flattened() == expected)
        }
    }

    @Test("Emptied, it keeps little memory and gives back much")
    func memory() {
        let buffer = OutputBuffer(capacity: 1024)
        buffer.append([UInt8](repeating: 1, count: 200 << 10))
        buffer.removeAll()
        #expect(buffer.isEmpty && buffer.capacity >= 200 << 10)
        buffer.append([UInt8](repeating: 1, count: 2 << 20))
        buffer.removeAll()
        #expect(buffer.isEmpty && buffer.capacity <= 256 << 10)
        buffer.append("again")
        #expect(buffer.text == "again")
    }

    @Test(
        "Whole numbers are written in decimal digits",
        arguments: [0, 1, -1, 9, 10, -10, 99, 100, 1_234_567_890, .max, .min, .max - 1, .min + 1] as [Int64]
    )
    func decimals(number: Int64) {
        let buffer = OutputBuffer(capacity: 0)
        buffer.append(decimal: number)
        #expect(buffer.text == "\(number)")
    }
}

@Suite("Bytes that several share")
struct SharedBytesTests {
    private static func append(_ text: String, to bytes: SharedBytes) {
        var text = text
        text.withUTF8 { bytes.append($0) }
    }

    private static func text(_ bytes: SharedBytes) -> String {
        String(decoding: bytes.slice(0..<bytes.count), as: UTF8.self)
    }

    @Test("Reset gives the same memory, and room for more where more is asked for")
    func reset() {
        let bytes = SharedBytes(capacity: 100)
        Self.append("first", to: bytes)
        let place = bytes.slice(0..<1).baseAddress
        bytes.reset(capacity: 100)
        #expect(bytes.count == 0)
        Self.append("second", to: bytes)
        #expect(bytes.slice(0..<1).baseAddress == place)
        bytes.reserve(100_006)
        #expect(Self.text(bytes) == "second")
        Self.append(String(repeating: "x", count: 100_000), to: bytes)
        #expect(bytes.count == 100_006)
        bytes.reset(capacity: 200_000)
        #expect(bytes.count == 0 && bytes.capacity >= 200_000)
    }

    @Test("Of a member that is there twice the last counts, also where the first had more items")
    func twice() {
        var reader = MessageReader()
        var line = #"{"handlerName":"a","data":[1,2,3,4,5,6,7],"data":[8]}"#
        guard case .message(.call(let request)) = line.withUTF8({ reader.read($0) }) else {
            Issue.record("it is a call")
            return
        }
        #expect(request.parameters == [8])
    }

    @Test("A part that is kept is what it was, whatever is read behind it")
    func parts() {
        var reader = MessageReader()
        func read(_ text: String) -> Request? {
            var text = text
            guard case .message(.call(let request)) = text.withUTF8({ reader.read($0) }) else { return nil }
            return request
        }
        var kept: [Request] = []
        for number in 0..<100 {
            kept += [read("call?cmd=c\(number)&msg=[\(number)]&id=\(number)"), read(#"{"handlerName":"d\#(number)"}"#)]
                .compactMap { $0 }
        }
        #expect(kept.count == 200)
        for (number, request) in kept.enumerated() {
            let isURL = number.isMultiple(of: 2)
            #expect(request.command == (isURL ? "c\(number / 2)" : "d\(number / 2)"))
            #expect(request.parameters == (isURL ? [.integer(Int64(number / 2))] : []))
        }
    }

    @Test("What is rewritten is what its end says")
    func rewrite() {
        let bytes = SharedBytes("abcdef")
        bytes.rewrite(from: 2) { rest in
            #expect(rest.count == 4)
            rest[0] = UInt8(ascii: "X")
            return 2
        }
        #expect(Self.text(bytes) == "abXd")
        Self.append("!", to: bytes)
        #expect(Self.text(bytes) == "abXd!")
        #expect(Array(bytes.slice(1..<3)) == Array("bX".utf8))
        let empty = SharedBytes("")
        #expect(empty.count == 0 && empty.slice(0..<0).isEmpty)
    }

    @Test("Texts as names are the same only byte for byte, with the same hash where they are the same")
    func byteNames() {
        #expect(ByteName("é") != ByteName("e\u{301}"))
        #expect("é" == "e\u{301}")
        #expect(Set([ByteName("é"), ByteName("e\u{301}"), ByteName("é")]).count == 2)
        #expect(ByteName("\u{212A}") != "K")
        let long = String(repeating: "x", count: 1000)
        #expect(ByteName(long) == ByteName(String(long.map { $0 })))
    }
}
