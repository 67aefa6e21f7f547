internal import JSON

/// The macros that are there, as the host knows them between two looks at the folders.
struct MacroListing: Sendable {
    struct Entry: Sendable {
        var name: String
        /// JavaScript, too, tells identifiers apart that differ only in Unicode's normal form.
        var key: ByteName { ByteName(name) }
        var path: String
        var version: ScriptFolder.Version?
        /// In the form of `list`, without `error`.
        var json: JSONObject

        /// Whether it is the same text.
        func isSame(_ other: Entry?) -> Bool { other?.path == path && other?.version == version }
    }

    var entries: [Entry] = []
    var problems: [String] = []

    /// The answer of `list`.
    /// - Parameter mistakes: the macro process's syntax errors, by name.
    func json(_ mistakes: JSONObject) -> JSONValue {
        let macros = entries.map { entry -> JSONValue in
            guard let error = mistakes[entry.name] else { return .object(entry.json) }
            var members = entry.json
            members["error"] = error
            return .object(members)
        }
        return ["macros": .array(macros), "problems": .array(problems.map(JSONValue.string))]
    }
}
