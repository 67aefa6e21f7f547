internal import CLinux
internal import Glibc

/// A script's file, and the folder below which it may load others.
public struct ScriptSource: Sendable {
    /// As it was named; errors name it so.
    public let path: String
    /// The last part of the path.
    public var name: String { String(path.split(separator: "/").last ?? "") }
    public let arguments: [String]
    private let folder: String

    /// More is no script that somebody wrote.
    private static let maximumBytes = 16 << 20

    public init(path: String, arguments: [String]) {
        self.path = path
        self.arguments = arguments
        folder = path.lastIndex(of: "/").map { String(path[..<$0]) + "/" } ?? "."
    }

    /// Why a script cannot be read.
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    /// The script's text. A first line `#!` becomes a comment, so that the lines keep their numbers.
    func text() throws(Unreadable) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Unreadable(description: "\(path): \(String(cString: strerror(errno)))") }
        return try Self.read(file, path)
    }

    /// The text of a file below the script's folder: nothing leads out of that, no `..` and no symbolic link.
    func text(of name: String) throws(Unreadable) -> String {
        guard !name.isEmpty, !name.utf8.contains(0) else { throw Unreadable(description: "load takes a file's name") }
        let root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { throw Unreadable(description: "\(folder): \(String(cString: strerror(errno)))") }
        defer { close(root) }
        let file = qc_open_beneath(root, name, O_RDONLY | O_NONBLOCK, 0)
        switch -file {
        case ..<1: return try Self.read(file, name)
        case EXDEV: throw Unreadable(description: "\(name) is not below the script's folder")
        default: throw Unreadable(description: "\(name): \(String(cString: strerror(-file)))")
        }
    }

    private static func read(_ file: Int32, _ name: String) throws(Unreadable) -> String {
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Unreadable(description: "\(name) is no file")
        }
        guard status.st_size <= maximumBytes else {
            throw Unreadable(description: "\(name) is larger than \(maximumBytes >> 20) MiB")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Unreadable(description: "\(name) is not UTF-8")
        }
        return text.hasPrefix("#!") ? "//\(text.dropFirst(2))" : text
    }
}
