public import Concurrency

/// A file of the media folder.
public struct MediaFile: Sendable, Hashable {
    /// Its path below the media folder.
    public var name: String
    /// How long it is.
    public var bytes: Int
    /// Its length; nil where it is no sound file, or does not tell.
    public var seconds: Double?
    /// Such as `wav`, `flac` or `opus`; nil where it is no sound file.
    public var format: String?
    /// Whose it is.
    public var owner: Owner
    /// The name of the owner's account; nil where it has none.
    public var account: String?

    /// A file of the media folder.
    public init(
        name: String,
        bytes: Int,
        seconds: Double?,
        format: String?,
        owner: Owner = .root,
        account: String? = nil
    ) {
        self.name = name
        self.bytes = bytes
        self.seconds = seconds
        self.format = format
        self.owner = owner
        self.account = account
    }
}

/// The media folder, as callers see it.
public protocol MediaLibrary: Sendable {
    /// Its files in the order of their names' bytes. Fails with `tooLarge`, `unavailable` or `timeout`.
    func list() -> Promise<[MediaFile]>

    /// Deletes a file. Fails with `invalid`, `notFound`, `busy` (it plays, or is being recorded), `denied` (another
    /// user's file), `unavailable` or `timeout`.
    func remove(_ file: String, for rights: FileRights) -> Promise<Void>
}
