public import JSON

/// Who makes a call. Known from the transport, never from what a message says.
public struct Caller: Sendable, Hashable {
    public enum Origin: Sendable, Hashable {
        /// A process at the other end of a Unix socket, as the kernel names it (SO_PEERCRED, SO_PEERGROUPS).
        case peer(uid: UInt32, pid: Int32, groups: Set<UInt32>)
        /// A user that a gateway vouches for, without an account on this device.
        case gateway(name: String, user: String)
        /// The daemon itself.
        case daemon
    }

    public let origin: Origin

    public init(_ origin: Origin) { self.origin = origin }

    public static let daemon = Caller(.daemon)

    /// The user id, where the caller is a process of this device.
    public var uid: UInt32? {
        if case .peer(let uid, _, _) = origin { uid } else { nil }
    }

    /// The process, where it is one of this device.
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
        case (.gateway(let mine, let user), .gateway(let theirs, let other)): mine == theirs && user == other
        case (.daemon, .daemon): true
        default: false
        }
    }

    /// The caller as JSON: `{"uid", "pid"}`, `{"gateway", "user"}`, or `{"daemon": true}`.
    public var json: JSONValue {
        switch origin {
        case .peer(let uid, let pid, _): ["uid": .integer(Int64(uid)), "pid": .integer(Int64(pid))]
        case .gateway(let name, let user): ["gateway": .string(name), "user": .string(user)]
        case .daemon: ["daemon": true]
        }
    }
}

extension Caller: CustomStringConvertible {
    public var description: String {
        switch origin {
        case .peer(let uid, let pid, _): "uid \(uid) pid \(pid)"
        case .gateway(let name, let user): "\(user) through \(name)"
        case .daemon: "the daemon"
        }
    }
}
