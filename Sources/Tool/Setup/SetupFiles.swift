import CommandLineText
import Glibc
import Linux

/// The files that one set-up writes. Each begins with a line that says so: a file without it is somebody else's.
struct SetupFiles {
    private let purpose: String
    /// Path and text; a file without a text must not be there.
    private var wanted: [(path: String, text: String?)] = []
    /// What was there before, to put it back.
    private var before: [(path: String, text: String?)] = []

    private var mark: String { "# Written by «quickconnect setup \(purpose)»; the same with --undo removes it." }

    private static let maximumBytes = 1 << 20

    init(_ purpose: String) { self.purpose = purpose }

    /// - Parameter text: what it has below the first line; nil: the file is not needed.
    mutating func add(_ path: String, _ text: String?) { wanted.append((path, text.map { "\(mark)\n\($0)\n" })) }

    /// Writes what is not there yet, and says it.
    /// - Returns: whether anything has changed.
    mutating func write() throws -> Bool {
        let present = try wanted.map { try own($0.path) }
        before = zip(wanted, present).filter { $0.text != $1 }.map { ($0.path, $1) }
        for ((path, text), old) in zip(wanted, present) where text != old {
            try put(text, at: path)
            say(text.map { "\(path)\n\(Self.indented($0))" } ?? "\(path) is removed")
        }
        return !before.isEmpty
    }

    /// Puts back what was there.
    func takeBack() throws {
        for (path, text) in before { try put(text, at: path) }
    }

    /// Whether any of them is there.
    var isThere: Bool { wanted.contains { FileText.exists($0.path) } }

    /// Removes all of them.
    /// - Returns: those that were there.
    func remove() throws -> [String] {
        let present = try wanted.map(\.path).filter { try own($0) != nil }
        for path in present {
            try put(nil, at: path)
            say("\(path) is removed")
        }
        return present
    }

    /// What the file has; nil if it is not there.
    private func own(_ path: String) throws -> String? {
        guard FileText.exists(path) else { return nil }
        let text = try LocalFile.text(path, maximumBytes: Self.maximumBytes)
        guard text.hasPrefix(mark) else {
            throw ExitError(message: "\(path) is not of this set-up and stays as it is: move it away, or rename it")
        }
        return text
    }

    private func put(_ text: String?, at path: String) throws {
        try LocalFile.change(path) { () throws(SystemCallError) in
            guard let text else { return _ = try SystemCallError.check("unlink") { unlink(path) } }
            if let folder = Folders.parent(of: path) { try Self.makeFolder(folder) }
            try FileText.replace(path, with: text, mode: 0o644)
        }
    }

    /// For everybody to read, like the folder it is in: other services read what is there.
    private static func makeFolder(_ path: String) throws(SystemCallError) {
        guard !FileText.exists(path) else { return }
        try Folders.make(path)
        try SystemCallError.check("chmod") { chmod(path, 0o755) }
    }

    private static func indented(_ text: String) -> String {
        text.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
    }
}

extension SetupFiles {
    /// Writes them; with a mistake in settings and mappings then, all is as before.
    mutating func write(at place: SetupPlace) throws -> Bool {
        try place.makeConfig()
        if let mistakes = try place.mistakes() {
            throw ExitError(message: "the settings have mistakes already; mend them first:\n\(mistakes)")
        }
        guard try write() else { return false }
        if let mistakes = try place.mistakes() {
            try takeBack()
            throw ExitError(message: "nothing was changed, because together with your own files:\n\(mistakes)")
        }
        return true
    }
}
