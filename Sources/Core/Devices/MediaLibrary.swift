public import Concurrency

/// A file of the media folder.
public struct MediaFile: Sendable, Hashable {
    /// Its path relative to the media folder.
    public var name: String
    /// Its size.
    public var bytes: Int
    /// Its duration; nil if it is not a sound file or has no known duration.
    public var seconds: Double?
    /// Such as `wav`, `flac` or `opus`; nil if it is not a sound file.
    public var format: String?
    /// Its owner.
    public var owner: Owner
    /// The name of the owner's account; nil if it has none.
    public var account: String?
    /// Whether all callers may read and remove it.
    public var isShared: Bool

    /// A file of the media folder.
    public init(
        name: String,
        bytes: Int,
        seconds: Double?,
        format: String?,
        owner: Owner = .root,
        account: String? = nil,
        isShared: Bool = false
    ) {
        self.name = name
        self.bytes = bytes
        self.seconds = seconds
        self.format = format
        self.owner = owner
        self.account = account
        self.isShared = isShared
    }
}

/// The media folder, as callers see it.
public protocol MediaLibrary: Sendable {
    /// Its files, sorted by the bytes of their names. Fails with `tooLarge`, `unavailable` or `timeout`.
    func list() -> Promise<[MediaFile]>

    /// Deletes a file. Fails with `invalid`, `notFound`, `busy` (it is playing or being recorded), `denied` (another
    /// user's file), `unavailable` or `timeout`.
    func remove(_ file: String, for rights: FileRights) -> Promise<Void>
}

/// A part of a file that was read.
public struct MediaPiece: Sendable, Hashable {
    /// Its bytes in Base64; empty if it begins at or after the file's end.
    public var data: String
    /// Where it begins, in bytes.
    public var offset: Int
    /// The size of the whole file in bytes.
    public var size: Int
    /// Changes when the file does.
    public var tag: String
    /// When the file was written, in milliseconds since 1970.
    public var modified: Int

    /// A part of a file: its data in Base64, where it begins, and the whole file's size in bytes, tag and time.
    public init(data: String, offset: Int, size: Int, tag: String, modified: Int) {
        self.data = data
        self.offset = offset
        self.size = size
        self.tag = tag
        self.modified = modified
    }

    /// The most bytes of one piece, read or written.
    public static let maxBytes = 1 << 20
}

/// A piece of a file that is to be written.
public struct UploadPiece: Sendable {
    /// The file's path relative to the media folder.
    public var file: String
    /// Where the piece begins, in bytes.
    public var offset: Int
    /// Its bytes as a Base64 string, as received. It is decoded later, where that may take time.
    public var data: Message
    /// Whether to discard what this connection has sent of the file before.
    public var begins: Bool
    /// Whether this is the last piece of the file.
    public var ends: Bool
    /// With the first piece: how long the whole file will be, so that what has no room is refused at once.
    public var size: Int?
    /// With the first piece: whether all callers may read and remove the file.
    public var isShared = false
    /// With the first piece: what may have the file's name when it begins and when it ends; nil: anything or nothing.
    public var replaces: Condition?

    /// What a file may replace, so that nobody overwrites what he has not seen.
    public enum Condition: Sendable, Hashable {
        case nothing
        case anyFile
        /// One of these versions (``MediaPiece/tag``).
        case tags([String])
    }

    /// A piece to write, its data in Base64.
    public init(file: String, offset: Int, data: Message, begins: Bool = false, ends: Bool = false) {
        self.file = file
        self.offset = offset
        self.data = data
        self.begins = begins
        self.ends = ends
    }
}

/// Reads and writes files of the media folder in pieces. The calls of one connection run in order; several connections
/// take turns.
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

    /// Writes a piece. Until the last piece, the file belongs to its connection and is deleted if the connection
    /// closes. With the last piece it appears under its name; the result is then an empty piece at its end.
    ///
    /// Fails with `invalid` (the name, an offset that does not follow the last piece, the data, or what has the name is
    /// not what the file may replace: then with `file` and its `tag`, null without a file), `busy` (somebody
    /// else is writing the file), `denied` (another user's file has that name), `notFound` (its folder is missing),
    /// `overloaded` (too many files at once), `tooLarge` (the owner's quota), `unavailable` (the disk is full or fails)
    /// or `timeout`.
    func write(_ piece: UploadPiece, for rights: FileRights, on connection: any CallConnection)
        -> Promise<MediaPiece?>
}
