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
