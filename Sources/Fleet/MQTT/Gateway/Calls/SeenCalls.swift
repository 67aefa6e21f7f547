import DequeModule

/// Recent calls, so that a call delivered twice is not done twice. A value; the caller supplies the time, in seconds of
/// a clock that is never set.
struct SeenCalls: Sendable {
    /// A call and the time when it came.
    struct Call: Sendable, Equatable {
        var key: CallKey
        var caller: String
        var seconds: Int64
    }

    private var keys: Set<CallKey> = []
    /// The calls of each caller, oldest first.
    private var callers: [String: Deque<Call>] = [:]
    private let most: Int
    private let lifetime: Int64

    /// - Parameters:
    ///   - most: the most calls kept. Beyond that, the oldest calls of the caller with the most are forgotten, so that
    ///     one caller cannot displace those of others.
    ///   - lifetime: how long the broker may repeat a call, in seconds.
    init(most: Int = 10_000, lifetime: Int64) { (self.most, self.lifetime) = (most, lifetime) }

    var count: Int { keys.count }

    /// Records a call, and returns whether it is new.
    mutating func take(_ key: CallKey, of caller: String, at seconds: Int64) -> Bool {
        forget(of: caller, before: seconds - lifetime)
        guard keys.insert(key).inserted else { return false }
        callers[caller, default: []].append(Call(key: key, caller: caller, seconds: seconds))
        if count > most { makeRoom(before: seconds - lifetime) }
        return true
    }

    /// A call that was not done: its sender may try again.
    mutating func forget(_ key: CallKey, of caller: String) {
        keys.remove(key)
        callers[caller]?.removeAll { $0.key == key }
        if callers[caller]?.isEmpty ?? false { callers[caller] = nil }
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

    /// All calls, the oldest first.
    var all: [Call] { callers.values.joined().sorted { $0.seconds < $1.seconds } }
}
