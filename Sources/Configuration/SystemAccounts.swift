import Glibc
public import QuickConnect

/// The users and groups of the system (getpwnam(3), getgrnam(3)). Looking them up may block.
public struct SystemAccounts: Accounts {
    public init() {}

    public func uid(ofUser name: String) -> UInt32? { user(name)?.uid }

    public func gid(ofGroup name: String) -> UInt32? {
        var entry = group()
        var result: UnsafeMutablePointer<group>?
        return lookUp { buffer, size in getgrnam_r(name, &entry, buffer, size, &result) } ? result?.pointee.gr_gid : nil
    }

    /// The user as a caller with its groups, nil where there is no such user.
    public func caller(forUser name: String) -> Caller? {
        guard let (uid, gid) = user(name) else { return nil }
        var groups = [gid_t](repeating: 0, count: 64)
        var count = Int32(groups.count)
        while getgrouplist(name, gid, &groups, &count) < 0 {
            guard Int(count) > groups.count else { break }
            groups = [gid_t](repeating: 0, count: Int(count))
        }
        return Caller(.peer(uid: uid, pid: 0, groups: Set(groups.prefix(Int(count)))))
    }

    /// A rule that names a user which this device may have; nil where it has not.
    public func rule(forUser name: String) -> AllowRule? {
        guard let uid = uid(ofUser: name) else { return nil }
        let place = SourceLocation(file: "the defaults", line: 1, column: 1)
        return AllowRule(userNames: [name], groupNames: [], users: [uid], groups: [], location: place)
    }

    private func user(_ name: String) -> (uid: uid_t, gid: gid_t)? {
        var entry = passwd()
        var result: UnsafeMutablePointer<passwd>?
        guard lookUp({ buffer, size in getpwnam_r(name, &entry, buffer, size, &result) }) else { return nil }
        return result.map { ($0.pointee.pw_uid, $0.pointee.pw_gid) }
    }

    /// Calls with a buffer that grows until it is large enough.
    private func lookUp(_ call: (UnsafeMutablePointer<CChar>, Int) -> Int32) -> Bool {
        var size = 1024
        while size <= 1 << 20 {
            var buffer = [CChar](repeating: 0, count: size)
            let code = buffer.withUnsafeMutableBufferPointer { $0.baseAddress.map { call($0, size) } ?? EINVAL }
            if code != ERANGE { return code == 0 }
            size *= 2
        }
        return false
    }
}
