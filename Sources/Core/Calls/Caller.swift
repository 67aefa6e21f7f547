public import JSON

/// Who makes a call, as the transport knows it. Nothing in a message can change it.
public struct Caller: Sendable, Hashable {
    /// Where a caller comes from.
    public enum Origin: Sendable, Hashable {
        /// A process at the other end of a Unix socket, as the kernel names it (SO_PEERCRED, SO_PEERGROUPS).
        case peer(uid: UInt32, pid: Int32, groups: Set<UInt32>)
        /// A user that a gateway vouches for, with the groups that the gateway names. It needs no account on this
        /// device.
        case gateway(name: String, user: String, groups: Set<String> = [])
        /// The daemon itself.
        case daemon
    }

    /// Where this caller comes from.
    public let origin: Origin
    /// The name of the process's user, if the transport has looked it up.
    public let userName: String?

    /// A caller, with the name of its account if that is known.
    public init(_ origin: Origin, userName: String? = nil) {
        self.origin = origin
        self.userName = userName
    }

    /// The daemon itself, to which no rule applies.
    public static let daemon = Caller(.daemon)

    /// The user id, if the caller is a process of this device.
    public var uid: UInt32? {
        if case .peer(let uid, _, _) = origin { uid } else { nil }
    }

    /// The process id, if the caller is a process of this device.
    public var pid: Int32? {
        if case .peer(_, let pid, _) = origin { pid } else { nil }
    }

    /// Whether no rule applies: root, the daemon's own user (`ownUID`), the daemon itself.
    public func isPrivileged(ownUID: UInt32) -> Bool {
        switch origin {
        case .peer(let uid, _, _): uid == 0 || uid == ownUID
        case .gateway: false
        case .daemon: true
        }
    }

    /// Whether both are the same user, who may then stop what the other started.
    public func isSameUser(as other: Caller) -> Bool {
        switch (origin, other.origin) {
        case (.peer(let mine, _, _), .peer(let theirs, _, _)): mine == theirs
        case (.gateway(let mine, let user, _), .gateway(let theirs, let other, _)):
            ByteName(mine) == ByteName(theirs) && ByteName(user) == ByteName(other)
        case (.daemon, .daemon): true
        default: false
        }
    }

    /// The caller as JSON: `{"uid", "pid"}`, `{"gateway", "user"}`, or `{"daemon": true}`.
    public var json: JSONValue {
        switch origin {
        case .peer(let uid, let pid, _): ["uid": .integer(Int64(uid)), "pid": .integer(Int64(pid))]
        case .gateway, .daemon: identity
        }
    }

    /// The caller as handlers are told: `{"uid", "user"}` with the user's name, `{"gateway", "user"}`, or `{"daemon":
    /// true}`. For a user without a name, `user` is the number.
    public var identity: JSONValue {
        switch origin {
        case .peer(let uid, _, _): ["uid": .integer(Int64(uid)), "user": .string(userName ?? "\(uid)")]
        case .gateway(let name, let user, _): ["gateway": .string(name), "user": .string(user)]
        case .daemon: ["daemon": true]
        }
    }

    /// Appends the ``identity`` as JSON.
    func writeIdentity(to buffer: OutputBuffer) {
        guard case .peer(let uid, _, _) = origin else { return identity.write(to: buffer) }
        // Every call to a handler contains this. Building a value first would cost ten times as much.
        buffer.append("{\"uid\":")
        buffer.append(decimal: Int64(uid))
        buffer.append(",\"user\":")
        buffer.append(json: userName ?? "\(uid)")
        buffer.append(UInt8(ascii: "}"))
    }

    /// The name in rules: `ann`, or `web:ann` for a gateway's user; nil if no rule can name it.
    public var ruleName: String? {
        switch origin {
        case .peer: userName
        case .gateway(let name, let user, _): GatewayName.of(user, through: name)
        case .daemon: nil
        }
    }
}

extension Caller: CustomStringConvertible {
    /// The caller in words, for the log.
    public var description: String {
        switch origin {
        case .peer(let uid, let pid, _): "uid \(uid) pid \(pid)"
        case .gateway(let name, let user, _): GatewayName.of(user, through: name)
        case .daemon: "the daemon"
        }
    }
}

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

/// On whose behalf a file of the media folder is read, written or removed, and what the rules allow that caller.
public struct FileRights: Sendable {
    /// The caller.
    public let caller: Caller
    /// Whether no rule applies: root, the daemon's user, the daemon itself.
    public let isPrivileged: Bool
    /// Whether `verbs` of the mapping lets this caller do this to everybody's files.
    public let isGranted: Bool

    /// The rights of a caller; `isPrivileged` for root and the daemon's user, `isGranted` if a mapping grants it.
    public init(_ caller: Caller, isPrivileged: Bool, isGranted: Bool = false) {
        self.caller = caller
        self.isPrivileged = isPrivileged
        self.isGranted = isGranted
    }

    /// The rights of the daemon's own actions.
    public static let daemon = FileRights(.daemon, isPrivileged: true)

    /// The one rule for who may read, replace or remove a file: its owner, root and the daemon's user, and the callers
    /// that `verbs` names. Whether the caller may call the command at all was checked before.
    public func mayChange(fileOf owner: Owner) -> Bool { isPrivileged || isGranted || caller.owner == owner }
}
