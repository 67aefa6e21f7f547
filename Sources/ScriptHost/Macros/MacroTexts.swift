internal import Layout
internal import Linux

/// The texts that the macro process has, to find what has changed in the folders.
struct MacroTexts {
    private struct Known: Equatable {
        var path: String
        var version: ScriptFolder.Version?
    }

    /// The change of a macro's file.
    enum Change {
        /// It has a new text.
        case text(String, name: String, path: String)
        case removed(name: String)
    }

    let folders: MacroFolders
    private var known: [String: Known] = [:]

    init(_ folders: MacroFolders) { self.folders = folders }

    /// The changed texts and the removed macros. A file that cannot be read is reported, and its old text stays.
    mutating func changes(telling tell: (String) -> Void) -> [Change] {
        let files = folders.files().files
        var changes: [Change] = []
        for file in files {
            let now = Known(path: file.path, version: ScriptFolder.Version(file.path))
            guard known[file.name] != now else { continue }
            switch file.text() {
            case .success(let text): changes.append(.text(text, name: file.name, path: file.path))
            case .failure(let problem): tell("\(file.path) \(problem.message)")
            }
            known[file.name] = now
        }
        let names = Set(files.map(\.name))
        let removed = known.keys.filter { !names.contains($0) }.sorted()
        for name in removed { known[name] = nil }
        return removed.map(Change.removed) + changes
    }
}
