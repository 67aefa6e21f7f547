internal import JSON
internal import NIOHTTP1
internal import QuickConnectClient

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

    /// What the daemon refuses of a file, with the status of its code; a full disk is 507.
    init(refusalOfMedia reply: CallReply?) {
        // An answer that is none of `media`.
        if case .value? = reply {
            self = .error(.internalServerError, "internal", "the daemon's answer is not understood")
        } else {
            self.init(reply, to: "media")
        }
        if case .error(let text)? = reply, Self.isFullDisk(text) { status = .insufficientStorage }
        if status == .serviceUnavailable { headers.add(name: "retry-after", value: "1") }
    }

    private static func isFullDisk(_ text: [UInt8]) -> Bool {
        (try? JSONParser.parse(String(decoding: text, as: UTF8.self)))?.objectValue?["reserveBytes"] != nil
    }

    /// Why the daemon cannot be asked. Throws other errors again.
    static func refusal(_ error: any Error) throws -> Response {
        guard let refusal = error as? DaemonRefusal else { throw error }
        var response = Response.error(CallLines.status(refusal.code), refusal.code, refusal.message)
        if response.status == .serviceUnavailable { response.headers.add(name: "retry-after", value: "1") }
        return response
    }
}
