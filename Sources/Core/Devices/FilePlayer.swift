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

/// A short sound that is decoded when the daemon starts, so that it can be played at any time.
public struct SystemSound: Sendable, Hashable {
    /// Its number in `playSound`.
    public var number: Int
    /// The name of its file, such as `laser.wav`.
    public var name: String
    /// Its length in seconds, less than 5.
    public var seconds: Double

    /// A system sound: its number, the name of its file and its duration.
    public init(number: Int, name: String, seconds: Double) {
        self.number = number
        self.name = name
        self.seconds = seconds
    }
}

/// A device that plays the system sounds. Several sounds at once are mixed.
public protocol SoundPlayer: Device {
    /// The sounds, by number, from 0.
    var sounds: [SystemSound] { get }

    /// Starts a sound and returns at once. Sounds start in the order of these calls.
    ///
    /// The promise is fulfilled when the sound's last frame has left the PCM; it fails with `notFound` (no such
    /// number), `unavailable` (the PCM is missing or went away, with the ALSA call and its error), `busy` (another
    /// program holds the PCM), `timeout` (the PCM did not answer in time), `overloaded` (too many sounds are playing)
    /// or `cancelled` (``Device/stop(mayEnd:)``). If its waiter cancels the promise, the sound plays on: it belongs to
    /// the daemon.
    func play(sound number: Int, for caller: Caller) -> Promise<Void>
}

/// The volume of the PCM.
public struct Volume: Sendable, Hashable {
    /// Per cent of the mixer's range, 0 to 100.
    public var percent: Int
    /// Whether it is muted, whatever the level.
    public var isMuted: Bool

    /// A level from 0 to 100, and whether it is muted.
    public init(percent: Int, isMuted: Bool) {
        self.percent = percent
        self.isMuted = isMuted
    }
}

/// The changes that `volume` can make.
public enum VolumeChange: Sendable, Hashable {
    case percent(Int)
    case muted(Bool)
}

/// The mixer of a PCM, if it has one.
public protocol VolumeControl: Sendable {
    /// Applies the change, if any, and returns the resulting volume. Changes are applied in the order of these calls.
    /// Fails with `unsupported` (the PCM has no mixer), `unavailable` or `timeout`.
    func volume(applying change: VolumeChange?) -> Promise<Volume>
}
