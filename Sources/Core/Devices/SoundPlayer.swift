public import Concurrency

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
