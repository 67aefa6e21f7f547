public import JSON

/// Whose something is that outlives the call that made it, such as a file of the media folder.
///
/// It is kept as a text: `uid 1000` is an account of this device, whatever its name is by now; `web:ann` is the user
/// `ann` of the gateway `web`. What has no owner is ``root``'s.
public struct Owner: Sendable, Hashable {
    private let name: ByteName

    /// The text that it is kept as.
    public var text: String { name.text }

    private init(_ text: String) { name = ByteName(text) }

    /// Root, whose everything is that has no other owner.
    public static let root = Owner(uid: 0)

    private static let accountPrefix = "uid "

    /// An account of this device.
    public init(uid: UInt32) { self.init("\(Self.accountPrefix)\(uid)") }

    /// A user of a gateway.
    public init(gateway: String, user: String) { self.init(GatewayName.of(user, through: gateway)) }

    /// Reads what ``text`` writes; nil where it is something else.
    public init?(text: String) {
        self.init(text)
        guard uid != nil || gateway?.name.isEmpty == false else { return nil }
    }

    /// The account, where it is one.
    public var uid: UInt32? {
        guard text.hasPrefix(Self.accountPrefix) else { return nil }
        let digits = text.dropFirst(Self.accountPrefix.count)
        guard let uid = UInt32(digits), "\(uid)" == digits else { return nil }
        return uid
    }

    /// The gateway and its user, where it is one.
    public var gateway: (name: String, user: String)? {
        GatewayName.parts(text).map { (name: $0.gateway, user: $0.name) }
    }

    /// The owner as JSON: `{"uid", "user"}` or `{"gateway", "user"}`.
    /// - Parameter account: the name of the account, null where it has none.
    public func json(account: String?) -> JSONValue {
        if let gateway { return ["gateway": .string(gateway.name), "user": .string(gateway.user)] }
        return ["uid": .integer(Int64(uid ?? 0)), "user": account.map { .string($0) } ?? .null]
    }
}

extension Owner: CustomStringConvertible {
    /// The owner as the index of files writes it.
    public var description: String { text }
}

extension Caller {
    /// Whose what this caller makes will be. What the daemon makes is root's.
    public var owner: Owner {
        if let uid { return Owner(uid: uid) }
        if case .gateway(let gateway, let user, _) = origin { return Owner(gateway: gateway, user: user) }
        return .root
    }
}
