public import Concurrency

/// How a file is played.
public struct PlayOptions: Sendable, Hashable {
    /// How often it is repeated after the first time; nil: forever.
    public var loops: Int?
    /// Per cent of the file's own volume, 0 to 100.
    public var volume: Double
    /// Where it starts the first time, in seconds from its beginning.
    public var from: Double
    /// Whether the promise is fulfilled at the end of playback instead of at its start.
    public var waits: Bool

    /// How a file is played; `volume` in per cent of the file's own volume, `from` in seconds. `loops` is nil for
    /// endless repetition.
    public init(loops: Int? = 0, volume: Double = 100, from: Double = 0, waits: Bool = false) {
        self.loops = loops
        self.volume = volume
        self.from = from
        self.waits = waits
    }
}

/// What can be done to a file that is playing or paused.
public enum PlayChange: String, Sendable, CaseIterable {
    case stop, pause, resume
}

/// A device that plays files of the media folder. Several at once are mixed, also with the system sounds.
public protocol FilePlayer: Device {
    /// Starts a file and returns at once. The promise is fulfilled when the first frames have been heard, or, if the
    /// options say so, the whole file. The file plays on even if the caller is gone.
    ///
    /// Fails with `invalid` (the name, or a start after the end), `notFound`, `busy` (the file is already playing, or
    /// another program holds the PCM), `unavailable` (it is not a sound file, it cannot be read, or the PCM is missing
    /// or went away), `timeout`, `overloaded` (too many files) or `cancelled` (it was stopped first).
    func start(_ file: String, _ options: PlayOptions, for caller: Caller) -> Promise<Void>

    /// Changes a file that is playing or paused. The promise is fulfilled when that can be heard.
    ///
    /// Fails with `notFound` (it is neither playing nor paused) or `denied` (another user started it).
    func change(
        _ file: String,
        _ change: PlayChange,
        mayEnd: @escaping @Sendable (Caller) -> Bool
    ) -> Promise<Void>
}
