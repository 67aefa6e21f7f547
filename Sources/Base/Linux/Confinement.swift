internal import CLinux
internal import Glibc

/// What is left to a process before it runs code of somebody else's, which may be more than the engine can hold: a few files to
/// read, and a closed list of system calls. It holds without systemd, and nothing in the process takes it back.
///
/// No new privileges and the list of system calls (seccomp) hold everywhere. Where the kernel has Landlock, nothing but the
/// files that are named can be opened; where it has none, nothing can be opened to write, unless something is ``writable``.
/// From Linux 6.12 on, abstract Unix sockets of other processes cannot be connected to, either.
package struct Confinement {
    /// Files, and folders with all below them.
    package var readable: [String] = []
    package var writable: [String] = []
    /// Whether it connects to Unix sockets.
    package var connects = false

    package init(readable: [String] = [], writable: [String] = [], connects: Bool = false) {
        self.readable = readable
        self.writable = writable
        self.connects = connects
    }

    /// What the C library and the engine read about the process itself. Its other files tell of others: those of `net`
    /// list all sockets of the machine.
    private static let own = ["maps", "smaps", "stat", "statm", "status"]
    /// What they read about the machine when they need it: the memory that there is, processors, time zones, random
    /// numbers.
    private static let system = [
        "/proc/meminfo", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu", "/sys/fs/cgroup",
        "/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom", "/dev/null",
    ]

    /// Gives all else up. Called before the process has a second thread, for Landlock holds for the thread that asks and
    /// those that it starts.
    /// - Returns: the folders as they are now.
    /// - Throws: where the kernel refuses; nothing of somebody else's may run then.
    @discardableResult
    package func enter() throws(SystemCallError) -> Ground {
        let ground = Ground(readable + writable)
        let ruleset = qc_confinement_begin()
        defer { if ruleset >= 0 { close(ruleset) } }
        if ruleset >= 0 {
            for name in Self.own { _ = qc_confinement_allow(ruleset, "/proc/self/\(name)", Int32(qc_access_kept)) }
            // What is not there cannot be read.
            for path in Self.system + readable { _ = qc_confinement_allow(ruleset, path, Int32(qc_access_read)) }
            for path in writable { _ = qc_confinement_allow(ruleset, path, Int32(qc_access_write)) }
        }
        let access = (connects ? qc_confinement_connects : 0) | (writable.isEmpty ? 0 : qc_confinement_writes)
        let code = qc_confinement_enter(max(ruleset, -1), Int32(access))
        guard code == 0 else { throw SystemCallError("seccomp", -code) }
        return ground
    }
}

/// Files and folders by what they are, and not by their names: rights stay with what had the name when they were given.
package struct Ground: Equatable, Sendable {
    private struct Identity: Equatable, Sendable {
        var device: UInt
        var number: UInt
    }

    private let paths: [String]
    private let identities: [Identity?]

    package init(_ paths: [String]) {
        self.paths = paths
        identities = paths.map { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            return Identity(device: UInt(status.st_dev), number: UInt(status.st_ino))
        }
    }

    /// Whether something else has one of the names now.
    package var isStale: Bool { Ground(paths) != self }
}
