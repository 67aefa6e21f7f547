import Glibc
import Linux
import QuickConnect

extension Caller {
    /// The process at the other end of a connected Unix socket, as the kernel names it.
    init(peerOf descriptor: CInt) throws(SystemCallError) {
        var credentials = Credentials()
        var length = socklen_t(MemoryLayout<Credentials>.size)
        try SystemCallError.check("getsockopt(SO_PEERCRED)") {
            getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
        }
        let groups = try Self.peerGroups(of: descriptor)
        self.init(
            .peer(uid: credentials.uid, pid: credentials.pid, groups: groups.union([credentials.gid]))
        )
    }

    /// The supplementary groups of the peer (SO_PEERGROUPS).
    private static func peerGroups(of descriptor: CInt) throws(SystemCallError) -> Set<gid_t> {
        var groups = [gid_t](repeating: 0, count: 32)
        while true {
            var length = socklen_t(groups.count * MemoryLayout<gid_t>.stride)
            let result = getsockopt(descriptor, SOL_SOCKET, peerGroupsOption, &groups, &length)
            let count = Int(length) / MemoryLayout<gid_t>.stride
            if result == 0 { return Set(groups.prefix(count)) }
            // ERANGE comes with the required length.
            guard errno == ERANGE, count > groups.count else {
                throw SystemCallError("getsockopt(SO_PEERGROUPS)")
            }
            groups = [gid_t](repeating: 0, count: count)
        }
    }

    /// `struct ucred` of unix(7), which glibc declares for _GNU_SOURCE only.
    private struct Credentials {
        var pid: pid_t = 0
        var uid: uid_t = 0
        var gid: gid_t = 0
    }

    /// asm-generic/socket.h; glibc's headers do not import it.
    private static let peerGroupsOption: CInt = 59
}
