public import Concurrency

/// How a file is played.
public struct PlayOptions: Sendable, Hashable {
    /// How often it is played again after the first time; nil: for ever.
    public var loops: Int?
    /// Per cent of the file's own loudness, 0 to 100.
    public var volume: Double
    /// Where it starts the first time, in seconds from its beginning.
    public var from: Double
    /// Whether the answer is awaited until it is over, in place of until it is heard.
    public var waits: Bool

    /// How a file is to be played; `volume` in per cent of its own loudness, `from` in seconds. `loops` is nil for ever.
    public init(loops: Int? = 0, volume: Double = 100, from: Double = 0, waits: Bool = false) {
        self.loops = loops
        self.volume = volume
        self.from = from
        self.waits = waits
    }
}

/// What can be done to a file that plays or is paused.
public enum PlayChange: String, Sendable, CaseIterable {
    case stop, pause, resume
}

/// A device that plays files of the media folder. Several at once are mixed, with the system sounds too.
public protocol FilePlayer: Device {
    /// Starts a file and returns at once. The promise is fulfilled when the first of it has been heard, or, where the
    /// options say so, all of it; the file plays on then, whatever becomes of the caller.
    ///
    /// Fails with `invalid` (the name, or a start behind the end), `notFound`, `busy` (the file plays already, or
    /// another program holds the PCM), `unavailable` (it is no sound file, it cannot be read, or the PCM is missing
    /// or went away), `timeout`, `overloaded` (too many files) or `cancelled` (it was stopped first).
    func start(_ file: String, _ options: PlayOptions, for caller: Caller) -> Promise<Void>

    /// Changes a file that plays or is paused. The promise is fulfilled when that can be heard.
    ///
    /// Fails with `notFound` (it neither plays nor is paused) or `denied` (another user started it).
    func change(
        _ file: String,
        _ change: PlayChange,
        mayEnd: @escaping @Sendable (Caller) -> Bool
    ) -> Promise<Void>
}
