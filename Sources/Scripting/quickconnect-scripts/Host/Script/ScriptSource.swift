internal import CLinux
internal import Glibc
internal import Linux

/// A script's file, and the folder from which it may load others.
struct ScriptSource: Sendable {
    /// As given; errors show it like this.
    let path: String
    /// The last part of the path.
    var name: String { String(path.split(separator: "/").last ?? "") }
    let arguments: [String]
    private let folder: String

    /// Larger files are refused.
    private static let maximumBytes = 16 << 20

    init(path: String, arguments: [String]) {
        self.path = path
        self.arguments = arguments
        folder = path.lastIndex(of: "/").map { String(path[..<$0]) + "/" } ?? "."
    }

    /// What ``text(of:)`` reads from. A script that is not a file of a folder has none to load.
    var loadedFolder: String? {
        guard let real = realpath(folder, nil) else { return nil }
        defer { free(real) }
        let path = String(cString: real)
        return ["/dev", "/proc"].contains { path == $0 || path.hasPrefix("\($0)/") } ? nil : folder
    }

    /// The script's text.
    func text() throws(PlainError) -> String {
        try Self.text(FileText.read(path, maximumBytes: Self.maximumBytes), path)
    }

    /// The text of a file in the script's folder. Nothing leads out of it, neither `..` nor a symbolic link.
    func text(of name: String) throws(PlainError) -> String {
        guard !name.isEmpty, !name.utf8.contains(0) else { throw PlainError("load takes a file's name") }
        let root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { throw PlainError("\(folder): \(SystemCallError.text(errno))") }
        defer { close(root) }
        let file = qc_open_beneath(root, name, O_RDONLY | O_NONBLOCK, 0)
        switch -file {
        case ..<1: return try Self.text(FileText.read(descriptor: file, maximumBytes: Self.maximumBytes), name)
        case EXDEV: throw PlainError("\(name) is not below the script's folder")
        default: throw PlainError("\(name): \(SystemCallError.text(-file))")
        }
    }

    /// A first line `#!` becomes a comment, so that the lines keep their numbers.
    private static func text(
        _ content: Result<String, FileText.Problem>,
        _ name: String
    ) throws(PlainError) -> String {
        let text = try content.mapError { PlainError("\(name) \($0.message)") }.get()
        return text.hasPrefix("#!") ? "//\(text.dropFirst(2))" : text
    }
}
