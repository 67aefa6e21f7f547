internal import JSON

/// What the macros' process is told of a macro.
enum MacroChange: Equatable {
    /// It has a new text, which has been checked; the function is the first bytes of it.
    case text(String, name: String, path: String, functionBytes: Int)
    /// Its new text has a mistake, {"message", "line"?, "column"?, "source"?}; the one before stays.
    case mistake(JSONObject, name: String, path: String)
    case removed(name: String)

    var json: JSONValue {
        switch self {
        case .text(let text, let name, let path, let bytes):
            ["name": .string(name), "path": .string(path), "text": .string(text), "bytes": .integer(Int64(bytes))]
        case .mistake(let mistake, let name, let path):
            ["name": .string(name), "path": .string(path), "mistake": .object(mistake)]
        case .removed(let name): ["name": .string(name)]
        }
    }

    init?(_ json: JSONValue) {
        guard let members = json.objectValue, let name = members["name"]?.stringValue else { return nil }
        guard let path = members["path"]?.stringValue else {
            self = .removed(name: name)
            return
        }
        if let mistake = members["mistake"]?.objectValue {
            self = .mistake(mistake, name: name, path: path)
        } else if let text = members["text"]?.stringValue, let bytes = members["bytes"]?.integerValue {
            self = .text(text, name: name, path: path, functionBytes: Int(clamping: bytes))
        } else {
            return nil
        }
    }
}
