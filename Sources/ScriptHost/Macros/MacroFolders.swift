internal import Linux

/// Where macros lie: `NAME.js` in the configuration folder, then among what was saved, then among what is shipped. The
/// first one of a name counts.
public struct MacroFolders: Sendable {
    /// A folder, by what is in it.
    enum Place: String, Sendable, CaseIterable {
        case configuration, saved, shipped
    }

    /// The owner's folder, which nothing here writes to.
    public var configuration: String
    /// What was saved.
    public var saved: String
    public var shipped: String
    /// The versions of all of them.
    public var versions: String

    public init(configuration: String, saved: String, shipped: String, versions: String) {
        self.configuration = configuration
        self.saved = saved
        self.shipped = shipped
        self.versions = versions
    }

    func path(of place: Place) -> String {
        switch place {
        case .configuration: configuration
        case .saved: saved
        case .shipped: shipped
        }
    }

    /// More is no macro that somebody wrote.
    static let maximumBytes = 256 << 10
    /// A connection has no more handlers than that and a few.
    static let maximumCount = 1000

    /// A macro's file.
    struct File: Equatable, Sendable {
        var name: String
        var place: Place
        var path: String
        /// Files of the same name in folders behind this one.
        var shadows: [String] = []

        /// Its text, as it is now.
        func text() -> Result<String, FileText.Problem> {
            FileText.read(path, maximumBytes: MacroFolders.maximumBytes)
        }
    }

    /// What lies in the folders now, in byte order of the names, and what is wrong there, in words.
    func files() -> (files: [File], problems: [String]) {
        var files: [String: File] = [:]
        var problems: [String] = []
        for place in Place.allCases {
            for entry in FileText.names(in: path(of: place)) ?? [] where entry.hasSuffix(".js") && !entry.hasPrefix(".")
            {
                let path = "\(path(of: place))/\(entry)"
                let name = String(entry.dropLast(3))
                guard ScriptFolder.Version(path) != nil else { continue }
                if let problem = MacroName.problem(of: name) {
                    problems.append("\(path): \(problem): it is left out")
                } else if files[name] != nil {
                    files[name]?.shadows.append(path)
                } else if files.count < Self.maximumCount {
                    files[name] = File(name: name, place: place, path: path)
                } else {
                    problems.append("\(path): there are \(Self.maximumCount) macros already: it is left out")
                }
            }
        }
        let sorted = files.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        // What was saved over a shipped one is nothing that somebody must know.
        problems += sorted.filter { $0.place == .configuration && !$0.shadows.isEmpty }.map {
            "\($0.shadows.joined(separator: ", ")): \($0.path) has the same name and counts"
        }
        return (sorted, problems)
    }

    /// The file of a macro; nil where there is none.
    func file(_ name: String) -> File? { files().files.first { $0.name == name } }
}
