import Glibc
public import QuickConnect

/// The users and groups of the system (getpwnam(3), getgrnam(3)), from any thread. Looking them up may block.
///
/// The only place that asks: the calls without `_r` keep their answer where the next caller, on whichever thread,
/// overwrites it.
public struct SystemAccounts: Accounts {
    public init() {}

    public func uid(ofUser name: String) -> UInt32? { user(name)?.uid }

    public func gid(ofGroup name: String) -> UInt32? {
        var entry = group()
        return lookUp { buffer, size, result in
            getgrnam_r(name, &entry, buffer, size, &result)
        } take: {
            $0.gr_gid
        }
    }

    /// The name of a user; its number where it has none.
    public func name(ofUser uid: UInt32) -> String { knownName(ofUser: uid) ?? "\(uid)" }

    /// The name of a user; nil where it has none.
    public func knownName(ofUser uid: UInt32) -> String? {
        var entry = passwd()
        return lookUp { buffer, size, result in
            getpwuid_r(uid, &entry, buffer, size, &result)
        } take: {
            String(cString: $0.pw_name)
        }
    }

    /// The name of a group; its number where it has none.
    public func name(ofGroup gid: UInt32) -> String {
        var entry = group()
        let name = lookUp { buffer, size, result in
            getgrgid_r(gid, &entry, buffer, size, &result)
        } take: {
            String(cString: $0.gr_name)
        }
        return name ?? "\(gid)"
    }

    /// The names of the groups that this process has, in order.
    public var ownGroups: [String] {
        var ids = [gid_t](repeating: 0, count: Int(getgroups(0, nil)) + 1)
        let count = getgroups(Int32(ids.count), &ids)
        return Set(ids.prefix(max(0, Int(count))) + [getegid()]).map(name(ofGroup:)).sorted()
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
        return lookUp { buffer, size, result in
            getpwnam_r(name, &entry, buffer, size, &result)
        } take: {
            ($0.pw_uid, $0.pw_gid)
        }
    }

    /// Calls with a buffer that grows until it is large enough.
    /// - Parameter take: gets the entry, whose texts lie in that buffer.
    private func lookUp<Entry, Value>(
        _ call: (UnsafeMutablePointer<CChar>, Int, inout UnsafeMutablePointer<Entry>?) -> Int32,
        take: (Entry) -> Value
    ) -> Value? {
        var size = 1024
        while size <= 1 << 20 {
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { buffer.deallocate() }
            var result: UnsafeMutablePointer<Entry>?
            let code = call(buffer, size, &result)
            if code != ERANGE { return code == 0 ? result.map { take($0.pointee) } : nil }
            size *= 2
        }
        return nil
    }
}
