internal import Glibc

/// Named files in several folders: the owner's, the saved ones, the shipped ones. The first file with a name is used.
/// The folders are read each time.
///
///     let layers = FileLayers([(Place.configuration, "/etc/x"), (.shipped, "/usr/share/x")], .init("procedure", …))
///     layers.file("distance")?.text()
package struct FileLayers<Place: Sendable & Equatable>: Sendable {
    /// What such a file is.
    package struct Kind: Sendable {
        /// What people call it, such as `macro`.
        let noun: String
        /// What follows the name in its path: `.js`, or `/Action.js` for a folder of its own.
        let ending: String
        let maximumBytes: Int
        let maximumCount: Int
        /// Why a text is not such a name, as a sentence; nil if it is one. A name must not lead to another folder.
        let problem: @Sendable (String) -> String?

        package init(
            _ noun: String,
            ending: String = ".js",
            maximumBytes: Int,
            maximumCount: Int = 1000,
            problem: @escaping @Sendable (_ name: String) -> String?
        ) {
            self.noun = noun
            self.ending = ending
            self.maximumBytes = maximumBytes
            self.maximumCount = maximumCount
            self.problem = problem
        }
    }

    /// One of the files.
    package struct File: Sendable, Equatable {
        package let name: String
        package let place: Place
        package let path: String
        /// Files of the same name in later folders.
        package let shadows: [String]
        let maximumBytes: Int

        /// Its text, as it is now.
        package func text() -> Result<String, FileText.Problem> { FileText.read(path, maximumBytes: maximumBytes) }
    }

    private let folders: [(place: Place, path: String)]
    private let kind: Kind

    /// - Parameter folders: in order of precedence.
    package init(_ folders: [(place: Place, path: String)], _ kind: Kind) {
        self.folders = folders
        self.kind = kind
    }

    /// The files in the folders now, sorted by the bytes of their names, and problems there, in words.
    package func files() -> (files: [File], problems: [String]) {
        // Swift holds names for equal that differ in Unicode's normal form.
        var names: Set<[UInt8]> = []
        var problems: [String] = []
        // Anybody may have given a file its name, and lines of a list or of a log are told by it.
        func leaveOut(_ path: String, _ why: String) {
            problems.append("\(path): \(why): it is left out".escapingControls)
        }
        for folder in folders {
            for entry in FileText.names(in: folder.path) ?? [] {
                guard let name = name(of: entry) else { continue }
                let path = path(of: name, in: folder.path)
                let bytes = Array(name.utf8)
                if !FileText.isFile(path) {
                    // It may have gone since the folder was read.
                    let own = "\(folder.path)/\(entry)"
                    guard !isFolder, FileText.exists(own) || FileText.isLink(own) else { continue }
                    leaveOut(own, notAFile)
                } else if let problem = kind.problem(name) {
                    leaveOut(path, problem)
                } else if names.contains(bytes) || names.count < kind.maximumCount {
                    names.insert(bytes)
                } else {
                    leaveOut(path, "there are \(kind.maximumCount) \(kind.noun)s already")
                }
            }
        }
        let sorted = names.sorted { $0.lexicographicallyPrecedes($1) }
        return (sorted.compactMap { file(String(decoding: $0, as: UTF8.self)) }, problems)
    }

    /// The file used for a name; nil if there is none.
    package func file(_ name: String) -> File? {
        guard kind.problem(name) == nil else { return nil }
        let found = folders.map { ($0.place, path(of: name, in: $0.path)) }.filter { FileText.isFile($0.1) }
        return found.first.map { place, path in
            File(
                name: name,
                place: place,
                path: path,
                shadows: found.dropFirst().map(\.1),
                maximumBytes: kind.maximumBytes
            )
        }
    }

    private func path(of name: String, in folder: String) -> String { "\(folder)/\(name)\(kind.ending)" }

    private var isFolder: Bool { kind.ending.hasPrefix("/") }

    private var notAFile: String {
        "a \(kind.noun) is a regular file, and its name is UTF-8 and ends in \(kind.ending)"
    }

    /// The name that somebody has meant by an entry of a folder; nil if it is something else. Hidden files are editors'.
    private func name(of entry: String) -> String? {
        guard !entry.hasPrefix("."), isFolder || entry.lowercased().hasSuffix(kind.ending) else { return nil }
        return isFolder ? entry : String(entry.dropLast(kind.ending.count))
    }
}
