internal import Concurrency
internal import JSON
internal import QuickConnect

/// The active sessions: a browser's cookie has a session's id, and only its fingerprint is stored.
struct Sessions {
    struct Session: Equatable {
        var user: String
        /// Whether a user logged in with a token. Otherwise a user of the device opened a page, and has no groups here.
        var isUser: Bool
        /// Unix times in seconds.
        var created: Int64
        var expires: Int64
        /// Of those that began in the same second, the lower one is older.
        var number = 0
    }

    /// Programs with a token have no session; those of one user end together, under this key.
    static func key(ofProgramsOf user: String) -> String { "user \(user)" }

    private var sessions: [String: Session] = [:]
    private var lastNumber = 0
    private static let most = 1000

    /// Begins a session. A user at a quarter of all sessions loses the oldest one, so that nobody ends another's by
    /// logging in; and if all are in use, whoever has the most does.
    /// - Returns: the id, for the cookie, and the keys of the sessions that ended.
    mutating func begin(
        _ user: String,
        isUser: Bool,
        at time: Int64,
        lasting seconds: Int64
    ) -> (id: String, ended: [String]) {
        let id = Secret.make()
        dropLate(at: time)
        var ended: [String] = []
        if keys(of: user).count >= Share.quarter.part(of: Self.most) {
            ended = endOldest(of: user)
        } else if sessions.count >= Self.most {
            let counts = sessions.values.reduce(into: [:]) { $0[$1.user, default: 0] += 1 }
            if let largest = counts.max(by: { $0.value < $1.value }) { ended = endOldest(of: largest.key) }
        }
        lastNumber += 1
        sessions[Secret.fingerprint(id)] =
            Session(user: user, isUser: isUser, created: time, expires: time + seconds, number: lastNumber)
        return (id, ended)
    }

    private func keys(of user: String) -> [String] { sessions.filter { $0.value.user == user }.map(\.key) }

    private mutating func endOldest(of user: String) -> [String] {
        let oldest = sessions.filter { $0.value.user == user }.min { $0.value.age < $1.value.age }
        guard let oldest else { return [] }
        sessions[oldest.key] = nil
        return [oldest.key]
    }

    /// The session of a cookie, and its fingerprint.
    func find(_ id: String, at time: Int64) -> (key: String, session: Session)? {
        let key = Secret.fingerprint(id)
        return find(key: key, at: time).map { (key, $0) }
    }

    /// The session with a fingerprint.
    func find(key: String, at time: Int64) -> Session? { sessions[key].flatMap { $0.expires > time ? $0 : nil } }

    mutating func end(_ key: String) { sessions[key] = nil }

    /// Ends all sessions of a user, however it logged in.
    /// - Returns: the keys of the ended sessions.
    mutating func endAll(ofUser name: String) -> [String] {
        let ended = keys(of: name)
        for key in ended { sessions[key] = nil }
        return ended
    }

    /// Ends all sessions.
    /// - Returns: the keys of the ended sessions.
    mutating func endAll() -> [String] {
        defer { sessions = [:] }
        return Array(sessions.keys)
    }

    mutating func dropLate(at time: Int64) { sessions = sessions.filter { $0.value.expires > time } }

    /// The newest first.
    var all: [(key: String, session: Session)] {
        sessions.sorted { $0.value.age > $1.value.age }.map { ($0.key, $0.value) }
    }

    // MARK: As text

    var json: JSONValue {
        .array(
            all.map { key, session in
                [
                    "fingerprint": .string(key), "user": .string(session.user), "isUser": .bool(session.isUser),
                    "created": .integer(session.created), "expires": .integer(session.expires),
                ]
            }
        )
    }

    init() {}

    init?(_ json: JSONValue) {
        guard let items = json.arrayValue else { return nil }
        // The newest is first.
        lastNumber = items.count
        for (index, item) in items.compactMap(\.objectValue).enumerated() {
            guard let key = item["fingerprint"]?.stringValue, let user = item["user"]?.stringValue,
                GatewayName.isValid(user), let expires = item["expires"]?.integerValue
            else { return nil }
            sessions[key] = Session(
                user: user,
                isUser: item["isUser"]?.boolValue ?? false,
                created: item["created"]?.integerValue ?? 0,
                expires: expires,
                number: items.count - index
            )
        }
    }
}

extension Sessions.Session {
    fileprivate var age: (Int64, Int) { (created, number) }
}
