public import JSON

/// The owner of something that outlives the call that made it, such as a file in the media folder.
///
/// It is stored as text: `uid 1000` is an account of this device, even if it is renamed; `web:ann` is the user `ann` of
/// the gateway `web`. What has no owner belongs to ``root``.
public struct Owner: Sendable, Hashable {
    private let name: ByteName

    /// The text that it is stored as.
    public var text: String { name.text }

    private init(_ text: String) { name = ByteName(text) }

    /// Root, the owner of everything without another owner.
    public static let root = Owner(uid: 0)

    private static let accountPrefix = "uid "

    /// An account of this device.
    public init(uid: UInt32) { self.init("\(Self.accountPrefix)\(uid)") }

    /// A user of a gateway.
    public init(gateway: String, user: String) { self.init(GatewayName.of(user, through: gateway)) }

    /// Parses what ``text`` writes; nil if it is something else.
    public init?(text: String) {
        self.init(text)
        guard uid != nil || gateway?.name.isEmpty == false else { return nil }
    }

    /// The account's user id, if the owner is an account.
    public var uid: UInt32? {
        guard text.hasPrefix(Self.accountPrefix) else { return nil }
        let digits = text.dropFirst(Self.accountPrefix.count)
        guard let uid = UInt32(digits), "\(uid)" == digits else { return nil }
        return uid
    }

    /// The gateway and its user, if the owner is one.
    public var gateway: (name: String, user: String)? {
        GatewayName.parts(text).map { (name: $0.gateway, user: $0.name) }
    }

    /// The owner as JSON: `{"uid", "user"}` or `{"gateway", "user"}`.
    /// - Parameter account: the name of the account, null if it has none.
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
    /// The owner of what this caller creates. What the daemon creates belongs to root.
    public var owner: Owner {
        if let uid { return Owner(uid: uid) }
        if case .gateway(let gateway, let user, _) = origin { return Owner(gateway: gateway, user: user) }
        return .root
    }
}
