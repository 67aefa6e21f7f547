/// How long to wait before a server is asked again: twice as long each time, and no two devices alike.
public struct Backoff: Sendable {
    /// What the first pause is about, in seconds.
    public var first = 5.0
    /// No pause is longer, in seconds.
    public var longest = 300.0

    public init() {}

    /// The pause before the attempt of that number, the second one being 1: from half of what has been doubled to all of it.
    public func seconds(before attempt: Int, by generator: inout some RandomNumberGenerator) -> Double {
        let full = (1..<max(attempt, 1)).reduce(first) { full, _ in min(full * 2, longest) }
        return full * Double.random(in: 0.5...1, using: &generator)
    }
}
