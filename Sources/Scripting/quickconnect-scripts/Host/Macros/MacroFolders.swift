internal import Linux

/// The folders of macros: `NAME.js` in the configuration folder, then among the saved ones, then among the shipped
/// ones. The first one with a name is used.
struct MacroFolders: Sendable {
    /// The kinds of folders.
    enum Place: String, Sendable, CaseIterable {
        case configuration, saved, shipped
    }

    /// The owner's folder. It is never written to.
    var configuration: String
    /// The saved macros.
    var saved: String
    var shipped: String
    /// The versions of all macros.
    var versions: String

    /// What the process of the macros reads: the files that they load. Their host gives it their texts.
    var readable: [String] { [configuration] }

    func path(of place: Place) -> String {
        switch place {
        case .configuration: configuration
        case .saved: saved
        case .shipped: shipped
        }
    }

    /// Larger files are refused.
    static let maximumBytes = 256 << 10
    /// A connection's limit of handlers is slightly higher.
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

    /// The files in the folders now, sorted by the bytes of their names, and problems there, in words.
    func files() -> (files: [File], problems: [String]) {
        var (files, problems) = layers.files()
        // Saving over a shipped macro is normal and needs no message.
        problems += files.filter { $0.place == .configuration && !$0.shadows.isEmpty }.map {
            "\($0.shadows.joined(separator: ", ")): \($0.path) has the same name and counts"
        }
        return (files, problems)
    }

    /// The file of a macro; nil if there is none.
    func file(_ name: String) -> File? { layers.file(name) }

    /// A line of a macro's file; nil if the file is not a macro's.
    func source(_ path: String, line: Int) -> String? {
        guard let file = files().files.first(where: { $0.path == path }), case .success(let text) = file.text()
        else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.contains(line - 1) ? String(lines[line - 1]) : nil
    }
}
