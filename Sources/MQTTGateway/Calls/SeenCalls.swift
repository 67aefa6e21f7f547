import DequeModule

/// The calls of late, so that one that is delivered again is not done again. A value; the time is told to it, in seconds of a clock
/// that nobody sets.
struct SeenCalls: Sendable {
    /// A call that came, and when.
    struct Call: Sendable, Equatable {
        var key: CallKey
        var caller: String
        var seconds: Int64
    }

    private var keys: Set<CallKey> = []
    /// The oldest of each caller first.
    private var callers: [String: Deque<Call>] = [:]
    private let most: Int
    private let lifetime: Int64

    /// - Parameters:
    ///   - most: of more the oldest are forgotten, of the caller who has the most: nobody makes those of others be forgotten.
    ///   - lifetime: how long the broker may repeat a call, in seconds.
    init(most: Int = 10_000, lifetime: Int64) { (self.most, self.lifetime) = (most, lifetime) }

    var count: Int { keys.count }

    /// Remembers a call, and says whether it is new.
    mutating func take(_ key: CallKey, of caller: String, at seconds: Int64) -> Bool {
        forget(of: caller, before: seconds - lifetime)
        guard keys.insert(key).inserted else { return false }
        callers[caller, default: []].append(Call(key: key, caller: caller, seconds: seconds))
        if count > most { makeRoom(before: seconds - lifetime) }
        return true
    }

    private mutating func forget(of caller: String, before seconds: Int64) {
        while let oldest = callers[caller]?.first, oldest.seconds < seconds { forgetOldest(of: caller) }
    }

    private mutating func forgetOldest(of caller: String) {
        guard let oldest = callers[caller]?.popFirst() else { return }
        keys.remove(oldest.key)
        if callers[caller]?.isEmpty ?? false { callers[caller] = nil }
    }

    private mutating func makeRoom(before seconds: Int64) {
        for caller in callers.keys { forget(of: caller, before: seconds) }
        guard count > most, let loudest = callers.max(by: { $0.value.count < $1.value.count }) else { return }
        forgetOldest(of: loudest.key)
    }

    /// All of them, the oldest first.
    var all: [Call] { callers.values.joined().sorted { $0.seconds < $1.seconds } }
}
