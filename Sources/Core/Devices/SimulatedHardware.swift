package import JSON

/// The values and events that mappings bind to what a person moves.
package struct SimulatedHardware: Sendable {
    package typealias Simulate =
        @Sendable (_ name: String, _ value: JSONValue?) throws(CommandError) -> JSONValue?

    package typealias Follow =
        @Sendable (_ name: String, _ path: String, _ track: String) throws(CommandError) -> JSONValue?

    package let names: @Sendable () -> [String]
    package let simulate: Simulate
    package let followers: @Sendable () -> [String]
    package let follow: Follow

    /// - Parameters:
    ///   - simulate: moves one, or only returns what it is; nil if there is none of that name.
    ///   - followers: the names of those that may follow a recorded track.
    ///   - follow: has one follow it. Blocks.
    package init(
        names: @escaping @Sendable () -> [String],
        simulate: @escaping Simulate,
        followers: @escaping @Sendable () -> [String],
        follow: @escaping Follow
    ) {
        (self.names, self.simulate, self.followers, self.follow) = (names, simulate, followers, follow)
    }

    /// None: all is real.
    package static let none = SimulatedHardware(
        names: { [] },
        simulate: { _, _ in nil },
        followers: { [] },
        follow: { _, _, _ in nil }
    )
}
