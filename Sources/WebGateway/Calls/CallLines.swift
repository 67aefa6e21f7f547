internal import JSON
internal import NIOCore
internal import NIOHTTP1
internal import QuickConnect
internal import QuickConnectClient

/// The contents of `POST /call`: one call in the address, or one per line in the body.
enum CallLines {
    typealias Call = (command: String, message: CallMessage)

    /// Reads a line of either form of the protocol; its id, if it has one, is ignored.
    static func read(_ line: [UInt8], with reader: inout MessageReader) -> Result<Call, UnreadableMessage> {
        switch line.withUnsafeBufferPointer({ reader.read($0) }) {
        case .message(.call(let request)):
            let parameters = request.parameters
            let message = parameters.isEmpty ? CallMessage.none : .value(.array(parameters))
            return .success((request.command, message))
        case .message(.unreadable(let problem)): return .failure(problem)
        case .message(.answer):
            return .failure(UnreadableMessage(.badRequest, "an answer to a handler's call needs a WebSocket"))
        case .batch: return .failure(UnreadableMessage(.badRequest, "a line is one call; write each on its own"))
        }
    }

    /// The lines of a body, without empty ones.
    static func lines(_ body: ByteBuffer) -> [[UInt8]] {
        body.readableBytesView.split(separator: UInt8(ascii: "\n")).map { line in
            Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
        }.filter { !$0.isEmpty }
    }

    /// The HTTP status for a code of the protocol.
    static func status(_ code: String) -> HTTPResponseStatus {
        switch CommandError.Code(rawValue: code) {
        case .badRequest: .badRequest
        case .denied: .forbidden
        case .unknownCommand, .notFound: .notFound
        case .busy: .conflict
        case .tooLarge: .payloadTooLarge
        case .invalid: .unprocessableEntity
        case .unsupported: .notImplemented
        case .unavailable, .overloaded, .cancelled: .serviceUnavailable
        case .timeout: .gatewayTimeout
        case .scriptFailed, .internal, nil: .internalServerError
        }
    }
}
