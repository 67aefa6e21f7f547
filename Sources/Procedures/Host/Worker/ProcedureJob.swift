internal import JSON
internal import QuickConnect

/// A job for a worker: a line of JSON.
enum ProcedureJob {
    case execute(name: String, arguments: [JSONValue])

    var json: JSONValue {
        switch self {
        case .execute(let name, let arguments):
            ["verb": "execute", "name": .string(name), "arguments": .array(arguments)]
        }
    }

    /// The line that a worker reads.
    var line: [UInt8] { Array("\(json.text)\n".utf8) }

    init?(_ json: JSONValue) {
        guard let object = json.objectValue, let name = object["name"]?.stringValue else { return nil }
        switch object["verb"]?.stringValue {
        case "execute": self = .execute(name: name, arguments: object["arguments"]?.arrayValue ?? [])
        default: return nil
        }
    }
}

/// The error of a job, with its position if a procedure's text caused it.
struct ProcedureError: Error {
    var code: CommandError.Code
    var message: String
    /// `file`, `line`, `column`, `stack`, `source`, as far as known.
    var place: JSONObject = [:]

    init(_ code: CommandError.Code, _ message: String, _ place: JSONObject = [:]) {
        self.code = code
        self.message = message
        self.place = place
    }

    var json: JSONObject {
        var members = place
        members["code"] = .string(code.rawValue)
        members["message"] = .string(message)
        return members
    }
}
