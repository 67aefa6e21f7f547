import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux

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
                throw ExitError(message: "the daemon sent an unexpected reply to 'media read'")
            }
            guard size ?? Int(whole) == Int(whole), !bytes.isEmpty || offset == Int(whole) else {
                throw ExitError(message: "'\(file)' was replaced while it was read; try again")
            }
            try take(bytes)
            (offset, size) = (offset + bytes.count, Int(whole))
            progress.show(offset, of: size)
        } while offset < size ?? 0
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ name: String) throws {
        let code = Descriptor.write(bytes, to: descriptor)
        guard code == 0 else { throw ExitError(local: name, SystemCallError("write", code)) }
    }
}

struct MediaPutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Sends a file.",
        discussion: """
            FROM is a file, or - for standard input, which needs a NAME. The file becomes visible when it is complete.
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Let all who may use media read and remove it.")
    var shared = false

    @Argument(help: ArgumentHelp("The file to send.", valueName: "FROM"), completion: .file())
    var from: String

    @Argument(
        help: ArgumentHelp("Its name in the media folder (default: that of FROM).", valueName: "NAME"),
        completion: Completion.mediaFile
    )
    var name: String?

    func validate() throws {
        if from == "-", name == nil { throw ValidationError("Standard input needs a NAME.") }
    }

    func run() throws {
        let descriptor = from == "-" ? STDIN_FILENO : open(from, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ExitError(local: from, SystemCallError("open")) }
        let name = name ?? LocalFile.last(of: from)
        let media = try MediaConnection(connection)
        var progress = TransferProgress(name)
        defer { progress.end() }
        let size = Self.size(of: descriptor)
        var (offset, isWhole) = (0, false)
        while !isWhole {
            let piece = try Self.read(descriptor, from)
            // Only a piece that is not full can be the last one.
            isWhole = piece.count < MediaConnection.pieceBytes
            _ = try media.call([
                "write", .string(name), .integer(Int64(offset)), .string(Base64.encode(piece)),
                ["end": .bool(isWhole), "shared": .bool(shared)],
            ])
            offset += piece.count
            progress.show(offset, of: size)
        }
    }

    /// As many bytes as a piece has; fewer at the end.
    private static func read(_ descriptor: Int32, _ path: String) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: MediaConnection.pieceBytes)
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress.map { $0 + filled }, $0.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ExitError(local: path, SystemCallError("read")) }
            if count == 0 { break }
            filled += count
        }
        return Array(bytes.prefix(filled))
    }

    /// How long a file is; nil for what is none.
    private static func size(of descriptor: Int32) -> Int? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }
}
