public import JSON

/// The payload of a reply: `{"responseData": …}`, with `"handlerName"` where it goes under another command than the call's, or
/// `{"error": {"cmd", "code", "message", …}}`.
public enum FleetReply: Sendable, Hashable {
    case result(JSONValue, command: String?)
    case error(JSONObject)

    public var json: JSONValue {
        switch self {
        case .error(let members): return ["error": .object(members)]
        case .result(let value, let command):
            var members: JSONObject = ["responseData": value]
            members["handlerName"] = command.map(JSONValue.string)
            return .object(members)
        }
    }

    /// Nil where it is something else.
    public init?(_ json: JSONValue) {
        guard let members = json.objectValue else { return nil }
        if let error = members["error"]?.objectValue {
            self = .error(error)
        } else if let value = members["responseData"] {
            self = .result(value, command: members["handlerName"]?.stringValue)
        } else {
            return nil
        }
    }

    /// Whether it is one of the errors that calls get which are not done, or not to their end, by the hundred.
    public var isRefusal: Bool {
        guard case .error(let members) = self else { return false }
        return ["overloaded", "unavailable", "timeout", "cancelled"].contains(members["code"]?.stringValue)
    }

    public var payload: [UInt8] { Array(json.text.utf8) }
}

/// Names of user properties.
public enum FleetProperty {
    /// Of a group's call: within how many seconds the members may answer, each at a random moment.
    public static let spread = "spread"
}
