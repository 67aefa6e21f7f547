public import Concurrency

/// The parameters of a recording.
public struct RecordingOptions: Sendable, Hashable {
    /// Frames per second.
    public var rate: Int
    /// 1 or 2.
    public var channels: Int
    /// The longest duration in seconds, after which it ends by itself; nil: the device's default.
    public var limit: Double?
    /// The gain in decibels; negative makes it quieter.
    public var gain: Double
    /// Whether all callers may read and remove the file.
    public var isShared: Bool

    /// What to record: frames per second, channels, the longest duration in seconds, a gain in decibels, and whether
    /// the file is for all.
    public init(
        rate: Int = 48_000,
        channels: Int = 1,
        limit: Double? = nil,
        gain: Double = 0,
        isShared: Bool = false
    ) {
        self.rate = rate
        self.channels = channels
        self.limit = limit
        self.gain = gain
        self.isShared = isShared
    }
}

/// A finished recording.
public struct Recording: Sendable, Equatable {
    /// Its name in the media folder.
    public var file: String
    /// Its full path.
    public var path: String
    /// Its duration.
    public var seconds: Double
    /// The size of its file.
    public var bytes: Int
    /// `caf`, `wav`, `flac` or `opus`.
    public var format: String
    /// Frames per second.
    public var rate: Int
    /// 1 is mono.
    public var channels: Int
    /// The loudest sample, 0 (digital silence) to 1 (full scale).
    public var peak: Double
    /// Why it ended by itself; nil if it was stopped.
    public var ending: Ending?

    /// Why a recording ended.
    public enum Ending: Sendable, Equatable {
        /// It reached its longest duration.
        case limit
        /// The device or the disk failed; the file holds what was captured before that.
        case failure(CommandError)
    }

    /// A finished recording, as `rec … stop` returns it.
    public init(
        file: String,
        path: String,
        seconds: Double,
        bytes: Int,
        format: String,
        rate: Int,
        channels: Int,
        peak: Double,
        ending: Ending? = nil
    ) {
        self.file = file
        self.path = path
        self.seconds = seconds
        self.bytes = bytes
        self.format = format
        self.rate = rate
        self.channels = channels
        self.peak = peak
        self.ending = ending
    }
}

extension Recording.Ending: CustomStringConvertible {
    /// The ending in words, for the log.
    public var description: String {
        switch self {
        case .limit: "its longest duration is reached"
        case .failure(let error): error.message
        }
    }
}

/// A device that records into files of the media folder.
public protocol Recorder: Device {
    /// Starts a recording and returns at once. The promise is fulfilled when the first frames have been captured. The
    /// recording goes on even if the caller is gone.
    ///
    /// Fails with `invalid` (the name, its ending, or what that format cannot hold), `notFound` (its folder), `busy`
    /// (it is already being recorded, or another program holds the PCM), `denied` (another user's file has that name),
    /// `unavailable` (the disk is full, or the PCM is missing or went away), `timeout`, `overloaded` (too many
    /// recordings), `tooLarge` (the caller's quota) or `cancelled`.
    func start(_ file: String, _ options: RecordingOptions, for rights: FileRights) -> Promise<Void>

    /// Starts a recording as ``start(_:_:for:)`` does. The promise is fulfilled when it has ended, however that comes,
    /// and its file is complete. Fails with the same errors, and those of ``stop(_:mayEnd:)``.
    func record(_ file: String, _ options: RecordingOptions, for rights: FileRights) -> Promise<Recording>

    /// Ends a recording. The promise is fulfilled when the file is complete and has its name. The result of a recording
    /// that ended by itself can be fetched once, in the same way.
    ///
    /// Fails with `notFound` (it is not being recorded), `denied` (another user started it), `unavailable` (it could
    /// not be written).
    func stop(_ file: String, mayEnd: @escaping @Sendable (Caller) -> Bool) -> Promise<Recording>
}
