internal import Glibc
internal import JSON
internal import QuickConnectClient

/// The reply to a call by HTTP. Values pass as the daemon writes them: they may be long, and are not read here.
enum CallReply {
    /// The JSON text of the value.
    case value([UInt8])
    /// The JSON text of an error object of the daemon.
    case error([UInt8])
    case failed(CallFailure)

    /// The code of an error; nil if it is none.
    var errorCode: String? {
        switch self {
        case .value: nil
        case .failed(let failure): failure.code
        case .error(let text):
            (try? JSONParser.parse(String(decoding: text, as: UTF8.self)))?.objectValue?["code"]?.stringValue
        }
    }

    /// How many bytes it keeps.
    var count: Int {
        switch self {
        case .value(let text), .error(let text): text.count
        case .failed: 0
        }
    }

    /// The id and the result of a line `{"responseId":ID,"responseData":VALUE}` or `{"responseId":ID,"error":ERROR}`,
    /// behind which may be `,"handlerName":NAME`; nil if it is another line.
    static func read(_ line: UnsafeBufferPointer<UInt8>) -> (id: String, reply: CallReply)? {
        let start = Array(#"{"responseId":""#.utf8)
        guard line.starts(with: start), line.last == UInt8(ascii: "}") else { return nil }
        let rest = line[start.count...]
        guard let quote = rest.prefix(64).firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        let id = String(decoding: rest[..<quote], as: UTF8.self)
        let end = line.count - 1
        for (name, isError) in [(#","responseData":"#, false), (#","error":"#, true)] {
            let key = Array(name.utf8)
            guard line[(quote + 1)...].starts(with: key) else { continue }
            let value = line[(quote + 1 + key.count)..<end]
            let text = Array(isError ? value[...] : value[..<endOfValue(value)])
            return (id, isError ? .error(text) : .value(text))
        }
        return nil
    }

    /// Where the value ends, before `,"handlerName":NAME` if that is the last member.
    ///
    /// It is found from behind, because values may be long. A value cannot end like that: an object would end in a
    /// brace, and within a text the quotes would have backslashes.
    private static func endOfValue(_ value: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        let quote = UInt8(ascii: "\"")
        guard value.last == quote else { return value.endIndex }
        var start = value.endIndex - 2
        let least = max(value.startIndex, value.endIndex - 1024)
        while start >= least, value[start] != quote || value[max(start - 1, value.startIndex)] == UInt8(ascii: "\\") {
            start -= 1
        }
        let key = Array(#","handlerName":"#.utf8)
        let begin = start - key.count
        guard start >= least, begin > value.startIndex, value[begin..<start].elementsEqual(key) else {
            return value.endIndex
        }
        return begin
    }
}
