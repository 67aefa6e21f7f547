/// How long to wait before asking a server again: doubled each time, and random, so that devices differ.
public struct Backoff: Sendable {
    /// What the first pause is about, in seconds.
    public var first = 5.0
    /// No pause is longer, in seconds.
    public var longest = 300.0

    public init() {}

    /// The pause before an attempt, the second one having number 1: between half and all of the doubled time.
    public func seconds(before attempt: Int, by generator: inout some RandomNumberGenerator) -> Double {
        let full = (1..<max(attempt, 1)).reduce(first) { full, _ in min(full * 2, longest) }
        return full * Double.random(in: 0.5...1, using: &generator)
    }
}
