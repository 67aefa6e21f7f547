public import Concurrency

/// A piece of a file that was read.
public struct MediaPiece: Sendable, Hashable {
    /// Its bytes in Base64; none where it begins at the file's end or behind it.
    public var data: String
    /// Where it begins, in bytes.
    public var offset: Int
    /// The bytes of the whole file.
    public var size: Int

    /// A piece of a file: its data in Base64, where it begins, and how long the whole file is, in bytes.
    public init(data: String, offset: Int, size: Int) {
        self.data = data
        self.offset = offset
        self.size = size
    }

    /// The most bytes of one piece, read or written.
    public static let mostBytes = 1 << 20
}

/// A piece of a file that is to be written.
public struct UploadPiece: Sendable {
    /// The file's path below the media folder.
    public var file: String
    /// Where the piece begins, in bytes.
    public var offset: Int
    /// Its bytes as a string in Base64, as it came: it is looked at where time may be taken.
    public var data: Message
    /// Whether what this connection has sent of the file before is forgotten.
    public var begins: Bool
    /// Whether the file is whole with it.
    public var ends: Bool

    /// A piece to write, its data in Base64.
    public init(file: String, offset: Int, data: Message, begins: Bool = false, ends: Bool = false) {
        self.file = file
        self.offset = offset
        self.data = data
        self.begins = begins
        self.ends = ends
    }
}

/// The bytes of the media folder's files, piece by piece. The calls of one connection are done in their order; those of
/// several take turns.
public protocol MediaTransfer: Sendable {
    /// Reads a piece. Fails with `invalid` (the name), `notFound`, `denied` (another user's file), `unavailable` or
    /// `timeout`.
    func read(
        _ file: String,
        from offset: Int,
        atMost bytes: Int,
        for rights: FileRights,
        on connection: any CallConnection
    ) -> Promise<MediaPiece>

    /// Writes a piece. The file belongs to its connection until the last piece, with which it appears under its name; it
    /// is gone with the connection before.
    ///
    /// Fails with `invalid` (the name, an offset that does not follow on, or the data), `busy` (somebody else writes the
    /// file), `denied` (another user's file has that name), `notFound` (its folder is missing), `overloaded` (too many
    /// files at a time), `tooLarge` (the owner's quota), `unavailable` (the disk is full or fails) or `timeout`.
    func write(_ piece: UploadPiece, for rights: FileRights, on connection: any CallConnection) -> Promise<Void>
}
