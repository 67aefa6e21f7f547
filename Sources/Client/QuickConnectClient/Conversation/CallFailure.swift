public import JSON
public import QuickConnect

/// Why a call has no result.
public enum CallFailure: Error, Sendable, Hashable {
    /// The daemon's error reply, with one of the protocol's codes.
    case refused(ErrorReply)
    /// The connection was lost, or closed by this program, during the call. It is unknown whether the call was done, so
    /// it is not repeated. The text gives the reason.
    case connectionLost(String)
    /// No reply came before the call's deadline. The daemon was asked to cancel the call.
    case timedOut
    /// The caller has cancelled it. The daemon was asked to cancel the call.
    case cancelled
    /// Too many calls already wait for a reply. The call was not sent.
    case overloaded(String)
    /// The line is too long or too deep for the daemon. The call was not sent.
    case tooLarge(String)
    /// The reply could not be read: it is not JSON, or longer than a client reads.
    case unreadable(String)
}

extension CallFailure: CustomStringConvertible {
    /// One of the protocol's codes: the daemon's, or the one that fits what happened here.
    public var code: String {
        switch self {
        case .refused(let error): error.code
        case .connectionLost: CommandError.Code.unavailable.rawValue
        case .timedOut: CommandError.Code.timeout.rawValue
        case .cancelled: CommandError.Code.cancelled.rawValue
        case .overloaded: CommandError.Code.overloaded.rawValue
        case .tooLarge: CommandError.Code.tooLarge.rawValue
        case .unreadable: CommandError.Code.badRequest.rawValue
        }
    }

    /// The HTTP status for a code, for pages and programs (docs/web.md).
    package static func httpStatus(of code: String) -> Int {
        switch CommandError.Code(rawValue: code) {
        case .badRequest: 400
        case .denied: 403
        case .unknownCommand, .notFound: 404
        case .busy: 409
        case .tooLarge: 413
        case .invalid: 422
        case .unsupported: 501
        case .unavailable, .overloaded, .cancelled: 503
        case .timeout: 504
        case .scriptFailed, .internal, nil: 500
        }
    }

    /// A sentence for people.
    public var message: String {
        switch self {
        case .refused(let error): error.message
        case .connectionLost(let reason): "the connection to the daemon was lost: \(reason)"
        case .timedOut: "no answer in time"
        case .cancelled: "the call was cancelled"
        case .overloaded(let message), .tooLarge(let message), .unreadable(let message): message
        }
    }

    /// The parameters that do not fit, for the code `invalid`: each a JSON pointer into the parameter array, and what was
    /// expected there.
    public var fields: [FieldProblem] {
        guard case .refused(let error) = self else { return [] }
        return error.fields
    }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}

/// An error reply: the JSON object `{"cmd", "code", "message", …}`.
public struct ErrorReply: Error, Sendable, Hashable {
    /// All members of the error: `code`, `message`, `cmd` and those of the code.
    public var members: JSONObject

    /// An error reply, from its value.
    public init(_ value: JSONValue) { members = value.objectValue ?? [:] }

    /// One of the protocol's codes, as received.
    public var code: String { members["code"]?.stringValue ?? "internal" }
    /// The sentence for people.
    public var message: String { members["message"]?.stringValue ?? "the daemon gave no reason" }

    /// The parameters that do not fit.
    public var fields: [FieldProblem] {
        (members["fields"]?.arrayValue ?? []).compactMap(\.objectValue).map { field in
            FieldProblem(field: field["field"]?.stringValue ?? "", expected: field["expected"]?.stringValue ?? "")
        }
    }
}
