public import Concurrency

/// What a motor plays: alternating vibrations and pauses, in milliseconds, beginning with a vibration.
///
/// The rules are those of the W3C's Vibration API ("validate and normalize"): what is too long is truncated, and a
/// pause at the end is left out. The limits are Chromium's, which the W3C leaves open.
public struct VibrationPattern: Sendable, Hashable {
    /// Entries beyond this number are dropped.
    public static let maxEntries = 99
    /// A longer vibration or pause becomes this, in milliseconds.
    public static let maxEntry = 10_000
    /// What `playSound -1` plays.
    public static let single = VibrationPattern([400])

    /// An odd number of entries, or none.
    public let milliseconds: [Int]

    /// A pattern of vibration, pause, vibration and so on, each in milliseconds.
    public init(_ milliseconds: [Int]) {
        var entries = milliseconds.prefix(Self.maxEntries).map { max(0, min(Self.maxEntry, $0)) }
        if entries.count.isMultiple(of: 2), !entries.isEmpty { entries.removeLast() }
        self.milliseconds = entries == [0] ? [] : entries
    }

    /// Whether it ends a vibration instead of starting one: `0`, or no entry at all.
    public var isEmpty: Bool { milliseconds.isEmpty }
}

/// A device that vibrates.
public protocol Haptics: Device {
    /// Starts a pattern and returns at once. It replaces a pattern that is still playing, whoever started that one,
    /// whose promise then fails with `cancelled`: the device has one motor, and the newest call wins.
    ///
    /// The promise is fulfilled when the pattern is over. It fails with `unsupported` (this device has no motor),
    /// `denied` (this process may not use it), `unavailable` (it was unplugged, or refuses), `busy` (other programs use
    /// up its effect memory), `timeout` (it does not answer) or `cancelled` (``Device/stop(mayEnd:)``, a newer
    /// pattern). When the daemon ends, even by a crash, the vibration ends.
    func vibrate(_ pattern: VibrationPattern, for caller: Caller) -> Promise<Void>

    /// Ends the pattern of this promise with `cancelled`, if it is still playing.
    func end(_ vibration: Promise<Void>)
}
