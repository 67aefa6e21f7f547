internal import Concurrency

/// The codes of `quickconnect web open` and `web user link`: each lets one browser in, once, within two minutes.
struct OneTimeCodes {
    typealias Instant = ContinuousClock.Instant

    /// Who logs in with a code.
    struct Person: Equatable {
        var name: String
        /// Whether it is one that the owner has added, not a user of the device.
        var isUser: Bool
    }

    private var codes: [String: (person: Person, end: Instant)] = [:]
    static let lifetime = Duration.seconds(120)
    private static let most = 100

    /// Nobody logs in as that user any more.
    mutating func removeAll(of user: String) { codes = codes.filter { $0.value.person.name != user } }

    mutating func removeAll() { codes = [:] }

    /// Nil if too many codes are unused.
    mutating func make(for person: Person, at now: Instant) -> String? {
        codes = codes.filter { $0.value.end > now }
        let own = codes.values.count { $0.person.name == person.name }
        guard codes.count < Self.most, own < Share.quarter.part(of: Self.most) else { return nil }
        let code = Secret.make()
        codes[Secret.fingerprint(code)] = (person, now + Self.lifetime)
        return code
    }

    /// Whose a code is, which can be used only once.
    mutating func use(_ code: String, at now: Instant) -> Person? {
        guard let entry = codes.removeValue(forKey: Secret.fingerprint(code)), entry.end > now else { return nil }
        return entry.person
    }
}
