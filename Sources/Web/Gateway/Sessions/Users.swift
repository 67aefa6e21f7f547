import JSON
internal import QuickConnect

/// The users that the owner has added, each with a token of which only the fingerprint is stored.
struct Users {
    struct User: Equatable {
        var identity: WebIdentity
        /// The token's fingerprint.
        var fingerprint: String
        /// Unix time in seconds.
        var created: Int64
    }

    private(set) var all: [User] = []

    subscript(name: String) -> User? { all.first { $0.identity.name == name } }

    /// The user of a token. Takes the same time for an unknown one.
    func user(token: String) -> User? {
        let fingerprint = Secret.fingerprint(token)
        return all.reduce(nil) { found, user in Secret.isSame(user.fingerprint, fingerprint) ? user : found }
    }

    /// Adds a user, or gives an existing one a new token and other groups.
    /// - Returns: the token, which is not stored anywhere.
    mutating func add(_ identity: WebIdentity, at time: Int64) -> String {
        let token = Secret.make()
        all.removeAll { $0.identity.name == identity.name }
        all.append(User(identity: identity, fingerprint: Secret.fingerprint(token), created: time))
        return token
    }

    /// - Returns: whether there was one.
    mutating func remove(_ name: String) -> Bool {
        let count = all.count
        all.removeAll { $0.identity.name == name }
        return all.count < count
    }

    // MARK: As text

    var json: JSONValue {
        .array(
            all.map { user in
                [
                    "name": .string(user.identity.name),
                    "groups": .array(user.identity.groups.map { .string($0) }),
                    "fingerprint": .string(user.fingerprint), "created": .integer(user.created),
                ]
            }
        )
    }

    init() {}

    /// Nil if the text is not what ``json`` writes: users must not get lost unnoticed.
    init?(_ json: JSONValue) {
        guard let items = json.arrayValue else { return nil }
        for item in items {
            guard let user = User(item) else { return nil }
            all.append(user)
        }
    }
}

extension Users.User {
    fileprivate init?(_ json: JSONValue) {
        guard let members = json.objectValue, let name = members["name"]?.stringValue, GatewayName.isValid(name),
            let fingerprint = members["fingerprint"]?.stringValue, fingerprint.utf8.count == 64
        else { return nil }
        let groups = (members["groups"]?.arrayValue ?? []).compactMap(\.stringValue)
        self.init(
            identity: WebIdentity(name, groups: groups),
            fingerprint: fingerprint,
            created: members["created"]?.integerValue ?? 0
        )
    }
}

/// The user of a page: what `actFor` tells the daemon.
package struct WebIdentity: Sendable, Hashable {
    /// The name, without the gateway's prefix.
    package var name: String
    /// The groups, without the gateway's prefix.
    package var groups: [String]

    /// An authenticated user.
    package init(_ name: String, groups: [String] = []) {
        self.name = name
        self.groups = groups
    }

    var json: JSONObject {
        ["gateway": "web", "user": .string(name), "groups": .array(groups.map { .string($0) })]
    }
}
