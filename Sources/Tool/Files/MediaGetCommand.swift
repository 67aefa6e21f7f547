import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux
import QuickConnect

struct MediaGetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Fetches a file.",
        discussion: "TO is a file, a folder, or - for standard output (default: its own name in the current folder)."
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: ArgumentHelp("Its name in the media folder.", valueName: "FILE"), completion: Completion.mediaFile)
    var file: String

    @Argument(help: ArgumentHelp("Where to save it.", valueName: "TO"), completion: .file())
    var to: String?

    func run() throws {
        let media = try MediaConnection(connection)
        guard to != "-" else { return try fetch(media) { try Self.write($0, to: STDOUT_FILENO, "standard output") } }
        let target = LocalFile.target(to, for: file)
        let part = "\(target).part"
        let descriptor = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw ExitError(local: part, SystemCallError("open")) }
        do {
            try fetch(media) { try Self.write($0, to: descriptor, part) }
            guard close(descriptor) == 0 else { throw ExitError(local: part, SystemCallError("close")) }
            guard rename(part, target) == 0 else { throw ExitError(local: target, SystemCallError("rename")) }
        } catch {
            unlink(part)
            throw error
        }
    }

    /// Asks for one piece after the other.
    private func fetch(_ media: MediaConnection, _ take: ([UInt8]) throws -> Void) throws {
        var progress = TransferProgress(file)
        defer { progress.end() }
        var (offset, size) = (0, Int?.none)
        repeat {
            let answer = try media.call(["read", .string(file), .integer(Int64(offset))]).objectValue ?? [:]
            let data = answer["data"]?.stringValue.flatMap(Base64.decode)
            guard let bytes = data, let whole = answer["size"]?.integerValue else {
                throw ExitError(message: "the daemon sent an unexpected reply to 'media read'", status: 1)
            }
            guard size ?? Int(whole) == Int(whole), !bytes.isEmpty || offset == Int(whole) else {
                throw ExitError(message: "'\(file)' was replaced while it was read; try again", status: 1)
            }
            try take(bytes)
            (offset, size) = (offset + bytes.count, Int(whole))
            progress.show(offset, of: size)
        } while offset < size ?? 0
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ name: String) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ExitError(local: name, SystemCallError("write")) }
            rest = rest.dropFirst(count)
        }
    }
}

/// Names of files here, for files of the media folder.
enum LocalFile {
    /// The local path for a file, given a name, a folder, or nothing.
    static func target(_ to: String?, for file: String) -> String {
        let own = name(of: file)
        guard let to else { return own }
        var status = stat()
        guard stat(to, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return to }
        return to.hasSuffix("/") ? to + own : "\(to)/\(own)"
    }

    /// The last part of a path. As in the media folder, what has no ending gets `.caf`.
    private static func name(of file: String) -> String {
        let name = last(of: file)
        return name.contains(".") ? name : "\(name).caf"
    }

    static func last(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}

extension ExitError {
    /// A file here that cannot be read or written.
    init(local path: String, _ error: SystemCallError) { self.init(message: "\(path): \(error)", status: 1) }
}
