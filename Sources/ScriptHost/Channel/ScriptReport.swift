internal import JSON
internal import QuickConnect

/// What a script's process tells the host that started it: lines of JSON on a pipe, each with some of the members.
struct ScriptReport: Sendable, Equatable {
    /// The text was run to its end once, or waits for the daemon: it may take the place of an older one.
    var isLoaded: Bool?
    /// The daemon passes no more calls on to it: another process may take its place.
    var isReleased: Bool?
    /// Calls made since it began.
    var calls: Int?
    /// Calls to its handlers that it has answered.
    var answers: Int?
    /// Lines of the console that were dropped.
    var droppedLines: Int?
    /// What went wrong last: `file:line:column: message`.
    var error: String?
    /// The limit that ended it.
    var limit: String?
    /// Where it was when a limit ended it, `{"macro", "file", "line", "stack"}` as far as that is known.
    var place: JSONObject?
    /// A file that it has loaded, below the folder.
    var loadedFile: String?

    init() {}

    init(_ json: JSONValue) {
        let members = json.objectValue ?? [:]
        isLoaded = members["loaded"]?.boolValue
        isReleased = members["released"]?.boolValue
        calls = members["calls"]?.integerValue.map(Int.init)
        answers = members["answers"]?.integerValue.map(Int.init)
        droppedLines = members["dropped"]?.integerValue.map(Int.init)
        error = members["error"]?.stringValue
        limit = members["limit"]?.stringValue
        place = members["place"]?.objectValue
        loadedFile = members["file"]?.stringValue
    }

    var json: JSONValue {
        var members: JSONObject = [:]
        if let isLoaded { members["loaded"] = .bool(isLoaded) }
        if let isReleased { members["released"] = .bool(isReleased) }
        if let calls { members["calls"] = .integer(Int64(calls)) }
        if let answers { members["answers"] = .integer(Int64(answers)) }
        if let droppedLines { members["dropped"] = .integer(Int64(droppedLines)) }
        if let error { members["error"] = .string(error) }
        if let limit { members["limit"] = .string(limit) }
        if let place { members["place"] = .object(place) }
        if let loadedFile { members["file"] = .string(loadedFile) }
        return .object(members)
    }
}
