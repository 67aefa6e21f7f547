import NIOCore
import QuickConnect
import Testing

@testable import WebGateway

/// The bodies of POST /call, and the daemon's replies.
@Suite("Calls by HTTP")
struct CallLinesTests {
    private func lines(_ body: String) throws -> [String] {
        try CallLines(body: ByteBuffer(string: body)).lines.map { line in
            switch line {
            case .call(let command, let bytes): "\(command) \(String(decoding: bytes, as: UTF8.self))"
            case .unreadable(let problem): problem.code.rawValue
            }
        }
    }

    @Test func `each line becomes one line of the daemon without its id`() throws {
        let body = """
            call?cmd=ping&id=7
            call?cmd=loc&msg=%5B%5B1%2C%0A2%5D%2C%0A%22a%5Cn%22%5D\r

            {"handlerName":"loc","data":{"a":1},"callbackId":"x"}
            rubbish
            [{"handlerName":"loc"}]
            """
        #expect(
            try lines(body) == [
                #"ping {"handlerName":"ping","callbackId":""#,
                #"loc {"handlerName":"loc","data":[[1, 2],"a\n"],"callbackId":""#,
                #"loc {"handlerName":"loc","data":[{"a":1}],"callbackId":""#, "badRequest", "badRequest",
            ]
        )
    }

    @Test func `a body has up to 256 calls`() throws {
        let line = "call?cmd=ping\n"
        #expect(try lines(String(repeating: line, count: 256) + "\n\n").count == 256)
        #expect(throws: CallLines.TooMany.self) { try lines(String(repeating: line, count: 257)) }
    }

    private func reply(_ line: String) -> String? {
        Array(line.utf8).withUnsafeBufferPointer { bytes in
            guard let (id, reply) = CallReply.read(bytes) else { return nil }
            switch reply {
            case .value(let text): return "\(id) value \(String(decoding: text, as: UTF8.self))"
            case .error(let text): return "\(id) error \(String(decoding: text, as: UTF8.self))"
            case .failed: return nil
            }
        }
    }

    @Test(arguments: [
        "1", "null", #""""#, #""x""#, #""a\\""#, #""a\"b""#, #"{"a":{}}"#, #"{"a":1,"handlerName":"x"}"#, #"["x"]"#,
        #"",\"handlerName\":\"x""#, #"[",\"handlerName\":"]"#, String(repeating: "1", count: 5000),
    ])
    func `a value is found, whatever it is`(value: String) {
        #expect(reply(#"{"responseId":"c1","responseData":\#(value)}"#) == "c1 value \(value)")
        #expect(reply(#"{"responseId":"c1","responseData":\#(value),"handlerName":"other"}"#) == "c1 value \(value)")
    }

    @Test func `errors and other lines`() {
        #expect(reply(#"{"responseId":"c12","error":{"code":"denied"}}"#) == #"c12 error {"code":"denied"}"#)
        for line in ["", "{}", #"{"responseId":"c1"}"#, #"{"handlerName":"x","data":1}"#, #"{"responseId":1}"#] {
            #expect(reply(line) == nil, "\(line)")
        }
    }
}
