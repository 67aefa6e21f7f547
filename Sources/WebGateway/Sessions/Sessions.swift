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
    }

    /// Programs with a token have no session; those of one user end together, under this key.
    static func key(ofProgramsOf user: String) -> String { "user \(user)" }

    private var sessions: [String: Session] = [:]
    /// One more than this drops the oldest, so that nobody fills the disk by logging in.
    private static let most = 1000

    /// - Returns: the id, for the cookie.
    mutating func begin(_ user: String, isUser: Bool, at time: Int64, lasting seconds: Int64) -> String {
        let id = Secret.make()
        dropLate(at: time)
        if sessions.count >= Self.most, let oldest = sessions.min(by: { $0.value.created < $1.value.created }) {
            sessions[oldest.key] = nil
        }
        sessions[Secret.fingerprint(id)] =
            Session(user: user, isUser: isUser, created: time, expires: time + seconds)
        return id
    }

    /// The session of a cookie, and its fingerprint.
    func find(_ id: String, at time: Int64) -> (key: String, session: Session)? {
        let key = Secret.fingerprint(id)
        guard let session = sessions[key], session.expires > time else { return nil }
        return (key, session)
    }

    mutating func end(_ key: String) { sessions[key] = nil }

    /// Ends all sessions of a user.
    /// - Returns: the keys of the ended sessions.
    mutating func endAll(ofUser name: String) -> [String] {
        let ended = sessions.filter { $0.value.isUser && $0.value.user == name }.map(\.key)
        for key in ended { sessions[key] = nil }
        return ended
    }

    mutating func dropLate(at time: Int64) { sessions = sessions.filter { $0.value.expires > time } }

    /// The newest first.
    var all: [(key: String, session: Session)] {
        sessions.sorted { ($0.value.created, $0.key) > ($1.value.created, $1.key) }.map { ($0.key, $0.value) }
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
        for item in items.compactMap(\.objectValue) {
            guard let key = item["fingerprint"]?.stringValue, let user = item["user"]?.stringValue,
                GatewayName.isValid(user), let expires = item["expires"]?.integerValue
            else { return nil }
            sessions[key] = Session(
                user: user,
                isUser: item["isUser"]?.boolValue ?? false,
                created: item["created"]?.integerValue ?? 0,
                expires: expires
            )
        }
    }
}
