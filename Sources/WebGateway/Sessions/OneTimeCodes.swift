internal import Fairness

/// The codes of `quickconnect web open`: each lets one browser in, once, within two minutes.
struct OneTimeCodes {
    typealias Instant = ContinuousClock.Instant

    private var codes: [String: (user: String, end: Instant)] = [:]
    static let lifetime = Duration.seconds(120)
    private static let most = 100

    /// Nobody logs in as that user any more.
    mutating func removeAll(of user: String) { codes = codes.filter { $0.value.user != user } }

    mutating func removeAll() { codes = [:] }

    /// Nil if too many codes are unused.
    mutating func make(for user: String, at now: Instant) -> String? {
        codes = codes.filter { $0.value.end > now }
        let own = codes.values.count { $0.user == user }
        guard codes.count < Self.most, own < Share.quarter.part(of: Self.most) else { return nil }
        let code = Secret.make()
        codes[Secret.fingerprint(code)] = (user, now + Self.lifetime)
        return code
    }

    /// The user of a code, which can be used only once.
    mutating func use(_ code: String, at now: Instant) -> String? {
        guard let entry = codes.removeValue(forKey: Secret.fingerprint(code)), entry.end > now else { return nil }
        return entry.user
    }
}
