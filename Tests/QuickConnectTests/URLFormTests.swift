import JSON
import TestRig
import Testing

@testable import QuickConnect

@Suite("The URL form is read by key")
struct URLFormTests {
    static func read(_ line: String) -> IncomingMessage { read(Array(line.utf8)) }
    static func read(_ bytes: [UInt8]) -> IncomingMessage {
        let request = Request(capacity: 64)
        return bytes.withUnsafeBufferPointer { URLForm.read($0, into: request, maximumDepth: 512) }
    }

    static func call(_ line: String) -> Request? {
        if case .call(let request) = read(line) { request } else { nil }
    }

    static func error(_ bytes: [UInt8]) -> UnreadableMessage? {
        if case .unreadable(let message) = read(bytes) { message } else { nil }
    }
    static func error(_ line: String) -> UnreadableMessage? { error(Array(line.utf8)) }

    @Test(
        "cmd, msg and id stand in any order",
        arguments: ["call?cmd=a&msg=1&id=7", "call?msg=1&id=7&cmd=a", "call?id=7&cmd=a&msg=1"]
    )
    func order(line: String) {
        let request = Self.call(line)
        #expect(request?.command == "a")
        #expect(request?.parameters == [1])
        #expect(request?.message?.value == 1)
        #expect(request?.id == "7")
        #expect(request?.form == .url)
    }

    @Test(
        "msg becomes the parameters: none, an array's items, one value, or one text that is not JSON",
        arguments: [
            ("call?cmd=a", []), ("call?cmd=a&msg=", []), ("call?cmd=a&msg=null", []), ("call?cmd=a&msg=%20null%20", []),
            ("call?cmd=a&msg=%5B%5D", []), ("call?cmd=a&msg=[]", []), ("call?cmd=a&msg=[null]", [nil]),
            ("call?cmd=rec&msg=%5B%22take.caf%22%2C%22start%22%5D", ["take.caf", "start"]),
            ("call?cmd=a&msg=-1", [-1]), ("call?cmd=a&msg=0", [0]), ("call?cmd=a&msg=1.5", [1.5]),
            ("call?cmd=a&msg=true", [true]), ("call?cmd=a&msg=%22%22", [""]), ("call?cmd=a&msg=%22x%22", ["x"]),
            ("call?cmd=a&msg={\"a\":1}", [["a": 1]]), ("call?cmd=a&msg=[[1]]", [[1]]),
            ("call?cmd=a&msg=hello", ["hello"]), ("call?cmd=a&msg=007", ["007"]), ("call?cmd=a&msg=%20", [" "]),
            ("call?cmd=a&msg=[1,", ["[1,"]), ("call?cmd=a&msg=nul", ["nul"]), ("call?cmd=a&msg='x'", ["'x'"]),
            ("call?cmd=a&msg=1e999 apples", ["1e999 apples"]), ("call?cmd=a&msg=a=b=c", ["a=b=c"]),
            ("call?cmd=a&msg=?#", ["?#"]), ("call?cmd=a&msg=%26%3D%25", ["&=%"]), ("call?cmd=a&msg=é", ["é"]),
            ("call?cmd=a&msg=\u{FEFF}1", ["\u{FEFF}1"]),
            ("call?cmd=a&msg=undefined", []), ("call?cmd=a&msg=%75ndefined", []),
            ("call?cmd=a&msg=undefined%20", ["undefined "]), ("call?cmd=a&msg=Undefined", ["Undefined"]),
            ("call?cmd=a&msg=%22undefined%22", ["undefined"]),
        ] as [(String, [JSONValue])]
    )
    func parameters(line: String, parameters: [JSONValue]) {
        #expect(Self.call(line)?.parameters == parameters)
    }

    @Test("Every byte but % and & is decoded, escaped or not, wherever it stands; what is no text is an error")
    func everyByte() {
        for (byte, place) in (UInt8.min...UInt8.max).flatMap({ byte in (0..<10).map { (byte, $0) } }) {
            let (before, behind) = (Array(repeating: UInt8(ascii: "x"), count: place), Array("yy".utf8))
            let isText = byte > 0 && byte < 0x80
            let hexadecimal = (byte < 16 ? "0" : "") + String(byte, radix: 16)
            let isPlain = byte != UInt8(ascii: "%") && byte != UInt8(ascii: "&")
            for written in [Array("%\(hexadecimal)".utf8)] + (isPlain ? [[byte]] : []) {
                let line = Array("call?cmd=".utf8) + before + written + behind
                guard case .call(let request) = Self.read(line) else {
                    #expect(!isText, "\(line)")
                    continue
                }
                #expect(isText && Array(request.command.utf8) == before + [byte] + behind, "\(line)")
            }
        }
    }

    @Test("+ stands for itself", arguments: [("1+1", "1+1"), ("a%2Bb+c", "a+b+c")])
    func plus(message: String, text: String) {
        #expect(Self.call("call?cmd=a+b&msg=\(message)&id=+")?.parameters == [.string(text)])
        #expect(Self.call("call?cmd=a+b&msg=\(message)&id=+")?.command == "a+b")
        #expect(Self.call("call?cmd=a+b&msg=\(message)&id=+")?.id == "+")
    }

    @Test("Values are percent-encoded UTF-8, with digits of either case", arguments: ["%e2%82%ac", "%E2%82%AC", "€"])
    func percentEncoding(value: String) {
        let request = Self.call("call?cmd=\(value)&msg=\(value)&id=\(value)")
        #expect(request?.command == "€")
        #expect(request?.parameters == ["€"])
        #expect(request?.id == "€")
    }

    @Test(
        "Everything else is badRequest, naming what",
        arguments: [
            ("call?cmd=a&cmd=a", "'cmd' is given twice"), ("call?cmd=a&id=1&id=2", "'id' is given twice"),
            ("call?cmd=a&msg=&msg=", "'msg' is given twice"), ("call?cmd=a&x=1", "unknown key 'x'"),
            ("call?cmd=a&Cmd=b", "unknown key 'Cmd'"), ("call?cmd=a&%6Dsg=b", "unknown key '%6Dsg'"),
            ("call?cmd=a&=b", "unknown key ''"), ("call?cmd=a&msg", "'msg' is not a key=value pair"),
            ("call?cmd=a&", "'' is not a key=value pair"), ("call?&cmd=a", "'' is not a key=value pair"),
            ("call?", "'' is not a key=value pair"), ("call?cmd", "'cmd' is not a key=value pair"),
            ("call?msg=1", "'cmd' is missing"), ("call?id=1", "'cmd' is missing"), ("call?cmd=", "'cmd' is empty"),
            ("call?cmd=%zz", "'cmd' has the bad escape '%zz'"), ("call?cmd=a&msg=%", "'msg' has the bad escape '%'"),
            ("call?cmd=a&msg=%4", "'msg' has the bad escape '%4'"),
            ("call?cmd=a&msg=%u0041", "'msg' has the bad escape '%u0'"),
            ("call?cmd=a&id=%4x1", "'id' has the bad escape '%4x'"), ("call?cmd=a&msg=%00", "'msg' has a NUL"),
            ("call?cmd=a\u{0}", "'cmd' has a NUL"), ("call?cmd=a&id=%00", "'id' has a NUL"),
            ("call?cmd=%ff", "'cmd' is not UTF-8"), ("call?cmd=a&msg=%C3", "'msg' is not UTF-8"),
            ("call?cmd=a&msg=%ED%A0%80", "'msg' is not UTF-8"), ("call?cmd=a&msg=%C0%AF", "'msg' is not UTF-8"),
            ("call?cmd=a&msg=1e999", "'msg' has a number too large for a double at byte 0"),
            ("call?cmd=a&msg=%22%5Cud800%22", "'msg' has half a surrogate pair at byte 1"),
            ("call", "a line begins with 'call?', '{' or '['"),
            ("CALL?cmd=a", "a line begins with 'call?', '{' or '['"),
            ("cal", "a line begins with 'call?', '{' or '['"),
            (" call?cmd=a", "a line begins with 'call?', '{' or '['"),
            ("call!cmd=a", "a line begins with 'call?', '{' or '['"),
            ("GET / HTTP/1.1", "a line begins with 'call?', '{' or '['"),
            ("handleJSONRequest?cmd=a&msg=1", "a line begins with 'call?', '{' or '['"),
            (
                "\u{FEFF}{}",
                "a line begins with 'call?', '{' or '[', and this one with U+FEFF, a byte order mark, which nobody sees"
            ), (" {}", "a line begins with 'call?', '{' or '['"),
        ]
    )
    func refused(line: String, message: String) {
        let error = Self.error(line)
        #expect(error?.code == .badRequest)
        #expect(error?.message == message)
    }

    @Test("Bytes that are not UTF-8 are badRequest wherever they stand")
    func notUTF8() {
        for start in ["call?cmd=", "call?cmd=a&msg=", "call?cmd=a&id=", "call?cmd=a&", ""] {
            let error = Self.error(Array(start.utf8) + [0xFF, 0xFE])
            #expect(error?.code == .badRequest)
        }
    }

    @Test(
        "An error finds its call's id and command wherever they stand",
        arguments: ["call?id=7&cmd=a&x=1", "call?x=1&cmd=a&id=7", "call?msg=%zz&cmd=a&id=7", "call?cmd=a&id=7&id=8"]
    )
    func errorKeepsId(line: String) {
        #expect(Self.error(line)?.id == "7")
        #expect(Self.error(line)?.command == "a")
    }

    @Test("An id has at most 128 bytes, decoded, and may be empty")
    func idLength() {
        let long = String(repeating: "%C3%A9", count: 64)
        #expect(Self.call("call?cmd=a&id=\(long)")?.id == String(repeating: "é", count: 64))
        let error = Self.error("call?cmd=a&id=\(long)x")
        #expect(error?.message == "'id' is longer than 128 bytes")
        #expect(error?.id == nil)
        #expect(error?.command == "a")
        #expect(Self.call("call?cmd=a&id=")?.id == "")
    }

    @Test("A msg of 512 levels is read, one of 513 is tooLarge, with its id")
    func depth() {
        let text = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(Self.call("call?cmd=a&msg=\(text)") != nil)
        let error = Self.error("call?cmd=a&msg=[\(text)]&id=7")
        #expect(error?.code == .tooLarge)
        #expect(error?.id == "7")
        #expect(error?.message == "'msg' has more than 512 arrays and objects inside each other")
    }

    @Test("What an error message shows of the line is short")
    func shortMessages() throws {
        let error = try #require(Self.error("call?cmd=a&e" + String(repeating: "\u{301}", count: 100_000) + "=1"))
        #expect(error.message.utf8.count < 200)
    }

    // MARK: Replies

    @Test("Replies are lines handleJSONRequest?cmd=…&msg=…[&id=…], msg being JSON")
    func replies() throws {
        let request = try #require(Self.call("call?cmd=loc&id=7"))
        let location: JSONValue = [51.5007, -0.1246, 35.0, 4.2]
        #expect(
            reply(location, to: request, under: "showLoc")
                == "handleJSONRequest?cmd=showLoc&msg=%5B51.5007%2C-0.1246%2C35.0%2C4.2%5D&id=7\n"
        )
        #expect(
            reply("it's \"é\"\n", to: try #require(Self.call("call?cmd=a%20b")))
                == "handleJSONRequest?cmd=a%20b&msg=%22it's%20%5C%22%C3%A9%5C%22%5Cn%22\n"
        )
        let empty = try #require(Self.call("call?cmd=a&id="))
        #expect(reply(nil, to: empty) == "handleJSONRequest?cmd=a&msg=null&id=\n")
        let error = CommandError(.notFound, "no such sound", details: ["cmd": "forged", "more": 1])
        #expect(
            line(to: request, of: "loc") { $0.appendError(error, to: $1, isFinal: true) } == """
                handleJSONRequest?cmd=error&msg=%7B%22cmd%22%3A%22loc%22%2C%22code%22%3A%22notFound%22%2C\
                %22message%22%3A%22no%20such%20sound%22%2C%22more%22%3A1%7D&id=7

                """
        )
    }

    @Test("What is written is read back by clients", arguments: 0..<200)
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let value = random.value(depth: 3)
        let id = PercentEncoding.encode("é%/+&=")
        let request = try #require(Self.call("call?cmd=\(PercentEncoding.encode("a&b=c"))&id=\(id)"))
        let bytes = Array(reply(value, to: request).utf8.dropLast())
        let reply = try #require(URLReply(bytes))
        #expect(reply.command == "a&b=c")
        #expect(reply.id == "é%/+&=")
        #expect(reply.value == value)
    }

    private func reply(_ value: JSONValue, to request: Request, under command: String? = nil) -> String {
        line(to: request, of: request.command) {
            $0.appendReply(.value(value), to: $1, under: command, isFinal: true)
        }
    }

    private func line(
        to request: Request,
        of command: String,
        _ write: (OutputBuffer, borrowing Call) -> Void
    ) -> String {
        let buffer = OutputBuffer()
        write(buffer, Call(keeping: request, CommandDescription(command), on: NoConnection()))
        return String(decoding: buffer.flattened(), as: UTF8.self)
    }
}
