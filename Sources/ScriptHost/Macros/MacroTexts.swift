internal import JSON
internal import Linux

/// The texts that the macro process has, and what has changed in the folders since.
struct MacroTexts {
    private struct Known: Equatable {
        var path: String
        var version: ScriptFolder.Version?
    }

    private let folders: MacroFolders
    private var known: [String: Known] = [:]

    init(_ folders: MacroFolders) { self.folders = folders }

    /// What is another text now, and what is gone: `{"put": [{"name", "path", "text"}], "removed": [name]}`; nil where
    /// nothing has changed. A file that cannot be read now is told, and its old text stays.
    mutating func changes(telling tell: (String) -> Void) -> JSONValue? {
        let files = folders.files().files
        var put: [JSONValue] = []
        for file in files {
            let now = Known(path: file.path, version: ScriptFolder.Version(file.path))
            guard known[file.name] != now else { continue }
            switch file.text() {
            case .success(let text):
                put.append(["name": .string(file.name), "path": .string(file.path), "text": .string(text)])
            case .failure(let problem): tell("\(file.path) \(problem.message)")
            }
            known[file.name] = now
        }
        let names = Set(files.map(\.name))
        let removed = known.keys.filter { !names.contains($0) }.sorted()
        for name in removed { known[name] = nil }
        guard !put.isEmpty || !removed.isEmpty else { return nil }
        return ["put": .array(put), "removed": .array(removed.map(JSONValue.string))]
    }
}
