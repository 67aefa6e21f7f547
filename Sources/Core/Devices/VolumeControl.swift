public import Concurrency

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
