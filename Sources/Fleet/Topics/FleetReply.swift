package import JSON

/// The payload of a reply: `{"responseData": …}`, with `"handlerName"` if its command is not the call's, or `{"error":
/// {"cmd", "code", "message", …}}`.
package enum FleetReply: Sendable, Hashable {
    case result(JSONValue, command: String?)
    case error(JSONObject)

    package var json: JSONValue {
        switch self {
        case .error(let members): ["error": .object(members)]
        case .result(let value, let command):
            JSONValue(present: ["responseData": value, "handlerName": command.map(JSONValue.string)])
        }
    }

    /// Nil if it is something else.
    package init?(_ json: JSONValue) {
        guard let members = json.objectValue else { return nil }
        if let error = members["error"]?.objectValue {
            self = .error(error)
        } else if let value = members["responseData"] {
            self = .result(value, command: members["handlerName"]?.stringValue)
        } else {
            return nil
        }
    }

    /// Whether it is an error for a call that was not done or not completed, of which there may be hundreds.
    package var isRefusal: Bool {
        guard case .error(let members) = self else { return false }
        return ["overloaded", "unavailable", "timeout", "cancelled"].contains(members["code"]?.stringValue)
    }

    package var payload: [UInt8] { Array(json.text.utf8) }
}

/// Names of user properties.
package enum FleetProperty {
    /// In a call to a group: within how many seconds the members answer, each at a random moment.
    package static let spread = "spread"
}
