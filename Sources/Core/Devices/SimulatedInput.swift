public import JSON
internal import Synchronization

/// What a simulated sensor measures: the moments of a recorded track, or numbers at which a person holds it with the
/// command `simulate`.
public final class SimulatedInput: Sendable {
    /// One of the numbers.
    public struct Member: Sendable, Hashable {
        /// Such as `latitude`.
        public var name: String
        /// The values that make sense.
        public var range: ClosedRange<Double>
        /// Such as `degrees`.
        public var unit: String
        /// Whether a person may leave it out; then it is not measured.
        public var isOptional: Bool

        /// A number with its name, unit and limits.
        public init(_ name: String, in range: ClosedRange<Double>, _ unit: String, isOptional: Bool = false) {
            (self.name, self.range, self.unit, self.isOptional) = (name, range, unit, isOptional)
        }
    }

    /// Where its values come from.
    public enum Source: Sendable, Hashable {
        /// A file, and the name by which a person knows it; nil for the one of the settings.
        case track(path: String, name: String?)
        /// Numbers by the names of the members. They stay until the next change.
        case held([String: Double])
    }

    private struct State {
        var source: Source
        var changes = 0
        var changed: (@Sendable () -> Void)?
    }

    /// Such as `tilt`.
    public let name: String
    /// The numbers at which it can be held.
    public let members: [Member]
    /// The path of the track of the settings.
    public let track: String
    /// Why the file at a path is no track, with the line; nil if it is one. Blocks.
    package let mistake: @Sendable (_ path: String) -> String?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - track: the path of the track of the settings, which it follows first.
    ///   - mistake: why the file at a path is no track; nil if it is one. Blocks.
    public init(
        _ name: String,
        _ members: [Member],
        track: String,
        mistake: @escaping @Sendable (_ path: String) -> String? = { _ in nil }
    ) {
        (self.name, self.members, self.track, self.mistake) = (name, members, track, mistake)
        state = Mutex(State(source: .track(path: track, name: nil)))
    }

    /// What it measures now, and how often that has changed.
    public var current: (source: Source, changes: Int) { state.withLock { ($0.source, $0.changes) } }

    /// Measures something else from now on; nil: the track of the settings again.
    public func set(_ source: Source?) {
        let changed = state.withLock { state in
            state.source = source ?? .track(path: track, name: nil)
            state.changes += 1
            return state.changed
        }
        changed?()
    }

    /// Calls `body` after each change, on the thread that makes it.
    public func whenChanged(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.changed = body } }

    /// `{"roll": 30, "pitch": 0}`, or `{"track": "walk.json"}`; the track of the settings is `default`.
    public var json: JSONValue {
        switch current.source {
        case .track(_, let name): ["track": .string(name ?? Self.defaultTrack)]
        case .held(let numbers):
            .object(
                JSONObject(members.compactMap { member in numbers[member.name].map { (member.name, .number($0)) } })
            )
        }
    }

    /// The name of the track of the settings.
    public static let defaultTrack = "default"
}
