import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux
import QuickConnect

struct MediaPutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Sends a file.",
        discussion: """
            FROM is a file, or - for standard input, which needs a NAME. The file becomes visible when it is complete.
            """
    )

    @OptionGroup var connection: ConnectionOptions

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
                ["end": .bool(isWhole)],
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
