import Glibc
import Linux
package import QuickConnect

/// The users and groups of the system (getpwnam(3), getgrnam(3)), from any thread. Looking them up may block.
///
/// Only this type and `SystemNames`, which it uses, look up accounts: the calls without `_r` return memory that the
/// next call, on any thread, overwrites.
package struct SystemAccounts: Accounts {
    package init() {}

    package func uid(ofUser name: String) -> UInt32? { user(name)?.uid }

    package func gid(ofGroup name: String) -> UInt32? {
        var entry = group()
        return SystemNames.lookUp { buffer, size, result in
            getgrnam_r(name, &entry, buffer, size, &result)
        } take: {
            $0.gr_gid
        }
    }

    /// The name of a user; its number if it has none.
    package func name(ofUser uid: UInt32) -> String { knownName(ofUser: uid) ?? "\(uid)" }

    /// The name of a user; nil if it has none.
    package func knownName(ofUser uid: UInt32) -> String? {
        var entry = passwd()
        return SystemNames.lookUp { buffer, size, result in
            getpwuid_r(uid, &entry, buffer, size, &result)
        } take: {
            String(cString: $0.pw_name)
        }
    }

    /// The name of a group; its number if it has none.
    package func name(ofGroup gid: UInt32) -> String { SystemNames.group(gid) }

    /// The names of the groups that this process has, in order.
    package var ownGroups: [String] {
        var ids = [gid_t](repeating: 0, count: Int(getgroups(0, nil)) + 1)
        let count = getgroups(Int32(ids.count), &ids)
        return Set(ids.prefix(max(0, Int(count))) + [getegid()]).map(name(ofGroup:)).sorted()
    }

    /// The user as a caller with its groups; nil if there is no such user.
    package func caller(forUser name: String) -> Caller? {
        guard let (uid, gid) = user(name) else { return nil }
        var groups = [gid_t](repeating: 0, count: 64)
        var count = Int32(groups.count)
        while getgrouplist(name, gid, &groups, &count) < 0 {
            guard Int(count) > groups.count else { break }
            groups = [gid_t](repeating: 0, count: Int(count))
        }
        return Caller(.peer(uid: uid, pid: 0, groups: Set(groups.prefix(Int(count)))))
    }

    /// A rule for a user who may exist on this device; nil if there is no such user.
    package func rule(forUser name: String) -> AllowRule? {
        guard let uid = uid(ofUser: name) else { return nil }
        return AllowRule(
            userNames: [name],
            groupNames: [],
            users: [uid],
            groups: [],
            location: .outside("the defaults")
        )
    }

    private func user(_ name: String) -> (uid: uid_t, gid: gid_t)? {
        var entry = passwd()
        return SystemNames.lookUp { buffer, size, result in
            getpwnam_r(name, &entry, buffer, size, &result)
        } take: {
            ($0.pw_uid, $0.pw_gid)
        }
    }
}
