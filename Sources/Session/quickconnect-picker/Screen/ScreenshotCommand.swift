import Glibc
import JSON
import Linux
import QuickConnect
import QuickConnectClient

/// `screenshot [{width, file, shared}]`: what the screen shows, as a file of the media folder that belongs to the user of
/// this session: `{file, width, height, bytes}`.
struct ScreenshotCommand: SessionCommand {
    /// Where the picture is made, before it is sent.
    let folder: String
    /// nil: a screen that is not there. Its picture is a black point.
    let programs: ScreenProgram?
    let isX11: Bool
    let name = "screenshot"
    /// Of one file only one can be written at once, and each costs the processor a second.
    let atOnce = 1

    private static let pieceBytes = 512 << 10
    private static let prefix = "quickconnect-screenshot"

    /// Removes what a kill has left in a folder that is this user's alone: a picture may be private.
    static func clean(_ folder: String) {
        for name in FileText.names(in: folder) ?? [] where name.hasPrefix("\(prefix)-") {
            unlink("\(folder)/\(name)/\(file)")
            rmdir("\(folder)/\(name)")
        }
    }

    private static let file = "picture.png"

    func answer(_ call: HandlerCall, _ device: DeviceClient) async throws -> HandlerCall.Answer {
        let options = call.parameters.first?.objectValue ?? [:]
        let name = options["file"]?.stringValue ?? "screenshot.png"
        guard name.hasSuffix(".png") else {
            throw HandlerCall.Failure.expected("file, a name that ends with .png", at: "/0/file", got: options["file"])
        }
        let picture: Picture
        do {
            let own = try Folders.makeTemporary("\(folder)/\(Self.prefix)")
            defer { rmdir(own) }
            picture = try await take("\(own)/\(Self.file)", width: (options["width"]?.integerValue).map { Int($0) })
        } catch {
            throw HandlerCall.Failure(.unavailable, "the screen cannot be pictured: \(error)")
        }
        try await send(picture.bytes, as: name, isShared: options["shared"]?.boolValue ?? false, device)
        return HandlerCall.Answer([
            "file": .string(name), "width": .integer(Int64(picture.width)), "height": .integer(Int64(picture.height)),
            "bytes": .integer(Int64(picture.bytes.count)),
        ])
    }

    private func take(_ path: String, width: Int?) async throws -> Picture {
        guard let programs else { return try Picture(Picture.blackPoint) }
        defer { unlink(path) }
        guard !isX11 else {
            // Never larger than it is.
            let size = width.map { "\($0)x>" } ?? "100%"
            let arguments = ["-silent", "-window", "root", "-resize", size, "png:\(path)"]
            _ = try await programs.run("import", arguments, package: "imagemagick")
            return try Picture(at: path)
        }
        _ = try await programs.run("grim", [path], package: "grim")
        let whole = try Picture(at: path)
        guard let width, width < whole.width else { return whole }
        _ = try await programs.run("grim", ["-s", "\(Double(width) / Double(whole.width))", path], package: "grim")
        return try Picture(at: path)
    }

    /// Piece by piece, so that it takes the place of what has its name when all of it is there.
    private func send(
        _ bytes: [UInt8],
        as name: String,
        isShared: Bool,
        _ device: DeviceClient
    ) async throws(HandlerCall.Failure) {
        for offset in stride(from: 0, to: bytes.count, by: Self.pieceBytes) {
            let end = min(offset + Self.pieceBytes, bytes.count)
            let options: JSONValue = [
                "begin": .bool(offset == 0), "end": .bool(end == bytes.count), "shared": .bool(isShared),
            ]
            let piece = JSONValue.string(Base64.encode(Array(bytes[offset..<end])))
            do throws(CallFailure) {
                _ = try await device.call("media", ["write", .string(name), .integer(Int64(offset)), piece, options])
            } catch {
                let code = CommandError.Code(rawValue: error.code)
                throw HandlerCall.Failure(code, "the picture cannot be kept as \(name): \(error.message)")
            }
        }
    }
}

/// A PNG file.
private struct Picture {
    let bytes: [UInt8]
    /// In pixels.
    let (width, height): (Int, Int)

    private static let maxBytes = 64 << 20

    init(_ bytes: [UInt8]) throws(PlainError) {
        // A signature, and the chunk that begins with the size.
        guard bytes.count > 24, bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) else {
            throw PlainError("it is no picture")
        }
        func number(_ part: Range<Int>) -> Int { bytes[part].reduce(0) { $0 << 8 | Int($1) } }
        (self.bytes, width, height) = (bytes, number(16..<20), number(20..<24))
    }

    init(at path: String) throws {
        let descriptor = try SystemCallError.check("open") { open(path, O_RDONLY | O_CLOEXEC) }
        defer { close(descriptor) }
        guard let bytes = Descriptor.read(0..<Self.maxBytes + 1, of: descriptor) else { throw SystemCallError("read") }
        guard bytes.count <= Self.maxBytes else {
            throw PlainError("it has more than \(Self.maxBytes >> 20) MiB; a 'width' makes it smaller")
        }
        try self.init(bytes)
    }

    /// One bit.
    static let blackPoint =
        Base64.decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")
        ?? []
}
