internal import JSON
internal import NIOHTTP1
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

/// What the daemon says, as an answer.
extension Response {
    /// A reply to a call, with the status of its code.
    init(_ reply: CallReply?, to command: String) {
        switch reply {
        case .value(let text)?: self = .text(text, type: "application/json")
        case .error(let text)?:
            self = .text(text, type: "application/json", CallLines.status(reply?.errorCode ?? ""))
        case .failed(let failure)?:
            self = .json(.object(failure.payload(command: command)), CallLines.status(failure.code))
        case nil: self = .error(.internalServerError, "internal", "no reply")
        }
    }

    /// What the daemon refuses of a file, with the status of its code; a full disk is 507, and a condition that does not hold 412.
    init(refusalOfMedia reply: CallReply?) {
        // An answer that is none of `media`.
        if case .value? = reply {
            self = .error(.internalServerError, "internal", "the daemon's answer is not understood")
        } else {
            self.init(reply, to: "media")
        }
        if case .error(let text)? = reply {
            let error = (try? JSONParser.parse(String(decoding: text, as: UTF8.self)))?.objectValue
            if error?["reserveBytes"] != nil { status = .insufficientStorage }
            // What has the name is not what the file may replace.
            if error?["tag"] != nil { status = .preconditionFailed }
        }
        if status == .serviceUnavailable { headers.add(name: "retry-after", value: "1") }
    }

    /// Why the daemon cannot be asked. Throws other errors again.
    static func refusal(_ error: any Error) throws -> Response {
        guard let refusal = error as? DaemonRefusal else { throw error }
        let response = Response.error(CallLines.status(refusal.code), refusal.code, refusal.message)
        return response.status == .serviceUnavailable ? response.with("retry-after", "1") : response
    }
}
