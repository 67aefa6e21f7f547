public import JSON

/// Why a call was not done: a code of the closed list, a sentence for people, and what a program can use.
///
/// An error renders its own reply (``payload(command:)``): the JSON object
/// `{"cmd", "code", "message", …details}` of an error reply in either wire form.
public struct CommandError: Error, Sendable, Equatable {
    /// The closed list of codes. Callers switch over it, so none is added without a new protocol version.
    public enum Code: String, Sendable, CaseIterable {
        /// The line or message is not of the protocol's form.
        case badRequest
        /// No mapping has that command.
        case unknownCommand
        /// The caller may not run that command.
        case denied
        /// The parameters do not fit, or a validation command object refused.
        case invalid
        /// What the parameters name is not there.
        case notFound
        /// Not now: the device is missing, unplugged or not answering.
        case unavailable
        /// Never on this device.
        case unsupported
        /// Somebody else holds it.
        case busy
        /// Not done within the call's time.
        case timeout
        /// Ended by `cancel`, `stop`, or the end of the daemon.
        case cancelled
        /// Longer or deeper than the limits.
        case tooLarge
        /// More calls or connections than the limits.
        case overloaded
        /// A script or handler failed.
        case scriptFailed
        /// A mistake in the daemon; the log has the details.
        case `internal`
    }

    /// The command that errors go under in the URL form; the name of no command and of no event.
    public static let replyCommand = "error"

    /// What kind of error it is.
    public var code: Code
    /// One sentence for people: what could not be done, why, and, where that helps, how to fix it.
    public var message: String
    /// Further members of the reply, such as `fields`, `nearest` or `rule`.
    public var details: JSONObject

    /// An error with a sentence for people, and members of its own for programs.
    public init(_ code: Code, _ message: String, details: JSONObject = [:]) {
        self.code = code
        self.message = message
        self.details = details
    }

    /// The error as the JSON object that replies carry.
    /// - Parameter command: the command of the call that failed; left out where it could not be read.
    public func payload(command: String?) -> JSONValue {
        var object: JSONObject = [:]
        if let command { object["cmd"] = .string(command) }
        object["code"] = .string(code.rawValue)
        object["message"] = .string(message)
        for (name, value) in details where object[name] == nil { object[name] = value }
        return .object(object)
    }
}
