internal import Glibc

/// Named files in several folders: the owner's, the saved ones, the shipped ones. The first file with a name is used.
/// The folders are read each time.
///
///     let layers = FileLayers([(Place.configuration, "/etc/x"), (.shipped, "/usr/share/x")], .init("procedure", …))
///     layers.file("distance")?.text()
public struct FileLayers<Place: Sendable & Equatable>: Sendable {
    /// What such a file is.
    public struct Kind: Sendable {
        /// What people call it, such as `macro`.
        let noun: String
        /// What follows the name in its path: `.js`, or `/Action.js` for a folder of its own.
        let ending: String
        let maximumBytes: Int
        let maximumCount: Int
        /// Why a text is not such a name, as a sentence; nil if it is one. A name must not lead to another folder.
        let problem: @Sendable (String) -> String?

        public init(
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
    public struct File: Sendable, Equatable {
        public let name: String
        public let place: Place
        public let path: String
        /// Files of the same name in later folders.
        public let shadows: [String]
        let maximumBytes: Int

        /// Its text, as it is now.
        public func text() -> Result<String, FileText.Problem> { FileText.read(path, maximumBytes: maximumBytes) }
    }

    private let folders: [(place: Place, path: String)]
    private let kind: Kind

    /// - Parameter folders: in order of precedence.
    public init(_ folders: [(place: Place, path: String)], _ kind: Kind) {
        self.folders = folders
        self.kind = kind
    }

    /// The files in the folders now, sorted by the bytes of their names, and problems there, in words.
    public func files() -> (files: [File], problems: [String]) {
        var names: Set<String> = []
        var problems: [String] = []
        for folder in folders {
            for name in self.names(in: folder.path) {
                let path = path(of: name, in: folder.path)
                if let problem = kind.problem(name) {
                    problems.append("\(path): \(problem): it is left out")
                } else if names.contains(name) || names.count < kind.maximumCount {
                    names.insert(name)
                } else {
                    problems.append("\(path): there are \(kind.maximumCount) \(kind.noun)s already: it is left out")
                }
            }
        }
        return (names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap(file), problems)
    }

    /// The file used for a name; nil if there is none.
    public func file(_ name: String) -> File? {
        guard kind.problem(name) == nil else { return nil }
        let found = folders.map { ($0.place, path(of: name, in: $0.path)) }.filter { Self.isFile($0.1) }
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

    /// The names that have a file there. Hidden files are editors'.
    private func names(in folder: String) -> [String] {
        let isFolder = kind.ending.hasPrefix("/")
        return (FileText.names(in: folder) ?? []).compactMap { entry in
            guard !entry.hasPrefix("."), isFolder || entry.hasSuffix(kind.ending) else { return nil }
            let name = isFolder ? entry : String(entry.dropLast(kind.ending.count))
            return Self.isFile(path(of: name, in: folder)) ? name : nil
        }
    }

    private static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}
