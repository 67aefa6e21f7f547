/// Counts wrong tokens and codes: five a minute for each address. Further wrong ones have to wait; a valid one never does,
/// because 144 bits cannot be guessed, and others may have the same address.
struct Tries {
    typealias Instant = ContinuousClock.Instant

    private var failures: [String: [Instant]] = [:]
    static let most = 5
    static let window = Duration.seconds(60)
    /// The most addresses that are remembered; with more, the network has other problems.
    private static let maxAddresses = 4096

    /// How long an address with a wrong token must wait; nil: it need not.
    mutating func pause(of address: String, at now: Instant) -> Duration? {
        forget(address, at: now)
        guard let times = failures[address], times.count >= Self.most, let first = times.first else { return nil }
        return first + Self.window - now
    }

    mutating func failed(_ address: String, at now: Instant) {
        if failures.count >= Self.maxAddresses { for address in failures.keys { forget(address, at: now) } }
        if failures.count >= Self.maxAddresses { failures = [:] }
        failures[address, default: []].append(now)
    }

    private mutating func forget(_ address: String, at now: Instant) {
        guard let times = failures[address] else { return }
        let recent = times.filter { $0 + Self.window > now }
        failures[address] = recent.isEmpty ? nil : recent
    }
}
