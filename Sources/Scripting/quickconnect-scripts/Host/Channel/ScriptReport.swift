internal import JSON

/// A report of a script's process to its host: a line of JSON on a socket, with some of the members.
struct ScriptReport: Sendable, Equatable {
    /// The script has run to its end once, or waits for the daemon: it may replace an older one.
    var isLoaded: Bool?
    /// The daemon no longer passes calls to it: another process may replace it.
    var isReleased: Bool?
    /// Calls it has made since it began.
    var calls: Int?
    /// Calls to its handlers that it has answered.
    var answers: Int?
    /// Lines of the console that were dropped.
    var droppedLines: Int?
    /// The last error: `file:line:column: message`.
    var error: String?
    /// The last warning of the daemon about an event or a handler, such as a name that nearly is another's.
    var warning: String?
    /// The limit that it exceeded.
    var limit: String?
    /// Where it was when it exceeded the limit, `{"macro", "file", "line", "stack"}` with the parts that are known.
    var place: JSONObject?
    /// A file that it has loaded, below the folder.
    var loadedFile: String?

    /// Takes what a later report says.
    mutating func take(_ json: JSONValue) {
        let members = json.objectValue ?? [:]
        isLoaded = members["loaded"]?.boolValue ?? isLoaded
        isReleased = members["released"]?.boolValue ?? isReleased
        calls = members["calls"]?.integerValue.map(Int.init) ?? calls
        answers = members["answers"]?.integerValue.map(Int.init) ?? answers
        droppedLines = members["dropped"]?.integerValue.map(Int.init) ?? droppedLines
        error = members["error"]?.stringValue ?? error
        warning = members["warning"]?.stringValue ?? warning
        limit = members["limit"]?.stringValue ?? limit
        place = members["place"]?.objectValue ?? place
        loadedFile = members["file"]?.stringValue ?? loadedFile
    }

    var json: JSONValue {
        JSONValue(present: [
            "loaded": isLoaded.map(JSONValue.bool), "released": isReleased.map(JSONValue.bool),
            "calls": calls.map { .integer(Int64($0)) }, "answers": answers.map { .integer(Int64($0)) },
            "dropped": droppedLines.map { .integer(Int64($0)) }, "error": error.map(JSONValue.string),
            "warning": warning.map(JSONValue.string), "limit": limit.map(JSONValue.string),
            "place": place.map(JSONValue.object), "file": loadedFile.map(JSONValue.string),
        ])
    }
}
