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
