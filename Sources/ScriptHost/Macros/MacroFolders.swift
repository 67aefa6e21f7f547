internal import Layout

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

    /// What the process of the macros reads.
    var readable: [String] { Place.allCases.map(path) }

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
    typealias File = FileLayers<Place>.File

    private var layers: FileLayers<Place> {
        let kind = FileLayers<Place>.Kind(
            "macro",
            maximumBytes: Self.maximumBytes,
            maximumCount: Self.maximumCount,
            problem: MacroName.problem(of:)
        )
        return FileLayers(Place.allCases.map { ($0, path(of: $0)) }, kind)
    }

    /// What lies in the folders now, in byte order of the names, and what is wrong there, in words.
    func files() -> (files: [File], problems: [String]) {
        var (files, problems) = layers.files()
        // What was saved over a shipped one is nothing that somebody must know.
        problems += files.filter { $0.place == .configuration && !$0.shadows.isEmpty }.map {
            "\($0.shadows.joined(separator: ", ")): \($0.path) has the same name and counts"
        }
        return (files, problems)
    }

    /// The file of a macro; nil where there is none.
    func file(_ name: String) -> File? { layers.file(name) }
}
