import Concurrency
import Glibc
import Linux
import QuickConnect
import Runtime
import Synchronization

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

/// Reads command lines: the kernel takes the lock of a process's memory for it, which the process may hold for long.
final class CommandLines: Sendable {
    private let thread = SideThread<Void>("qc-programs", wake: {})
    private let waiting = Atomic<Int>(0)
    /// Further ones are not read.
    private static let most = 64

    /// Reads one, and takes the whole name of the program from it.
    func read(_ pid: Int32, of uid: UInt32, _ cut: String, _ whole: CallingProcess.WholeName) {
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.most else {
            waiting.subtract(1, ordering: .relaxed)
            return
        }
        thread.run(for: "\(uid)") {
            whole.set(CallingProcess.wholeName(cut, in: ProcessFile.text("/proc/\(pid)/cmdline") ?? ""))
            self.waiting.subtract(1, ordering: .relaxed)
        }
    }
}

extension CallingProcess {
    /// The process of a caller, if it has one. Reads /proc; the values are nil if it hides other users' processes.
    // Inlined into its caller, this crashes the optimizer of Swift 6.3.1.
    @inline(never)
    init?(of caller: Caller, _ lines: CommandLines) {
        guard let pid = caller.pid, let uid = caller.uid else { return nil }
        let program = ProcessFile.text("/proc/\(pid)/comm").map { String($0.prefix { $0 != "\n" }) }
        var whole: WholeName?
        if let program, program.utf8.count == Self.kernelNameBytes {
            let name = WholeName()
            lines.read(pid, of: uid, program, name)
            whole = name
        }
        self.init(unit: ProcessFile.text("/proc/\(pid)/cgroup").flatMap(Self.unit), program: program, whole: whole)
    }

    /// What the kernel keeps of a name.
    private static let kernelNameBytes = 15
    /// A longer name is not kept for each connection.
    private static let nameBytes = 64

    /// The word of a command line that the kernel's name is the beginning of, without its folder: the program, or the file that
    /// an interpreter runs. A user may write any word there, as any name.
    static func wholeName(_ cut: String, in commandLine: String) -> String? {
        commandLine.split(separator: "\0").prefix(8).lazy
            .compactMap { $0.split(separator: "/").last }
            .first { $0.hasPrefix(cut) && $0.utf8.count <= nameBytes }
            .map(String.init)
    }

    /// The outermost service or scope of a path such as `0::/user.slice/user-1000.slice/user@1000.service/app.slice/…`:
    /// a user may choose the names below it.
    static func unit(_ text: String) -> String? {
        let lines = text.split(separator: "\n")
        let path = lines.first { $0.hasPrefix("0::") } ?? lines.first { $0.contains(":name=systemd:") }
        return path?.split(separator: "/").first { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }.map(String.init)
    }
}

/// The names of users, looked up on threads that may block, because the look-up may ask a directory server. A name is
/// looked up once. A user without one is looked up again after a while: there may have been no descriptor, or no server.
final class UserNames: Sendable {
    private struct Known {
        var name: String?
        var since: ContinuousClock.Instant
    }

    private let lookUp: @Sendable (UInt32) -> String?
    private let names = Mutex<[UInt32: Known]>([:])
    /// Several, because a directory that does not answer for one user must not stop the others.
    private let threads = (0..<4).map { _ in SideThread<Void>("qc-names", wake: {}) }
    private static let most = 4096
    /// How long a user without a name counts as such.
    private static let doubt = Duration.seconds(10)
    /// After this time a user counts as one without a name, so that a directory that does not answer locks nobody out.
    private static let timeout = LoopSpan.seconds(1)

    /// - Parameter lookUp: the name of a user; nil if it has none. May block.
    init(_ lookUp: @escaping @Sendable (UInt32) -> String?) { self.lookUp = lookUp }

    /// The name if it has been looked up; the outer nil if not.
    private func known(_ uid: UInt32) -> String?? {
        guard let known = names.withLock({ $0[uid] }) else { return nil }
        guard known.name != nil || known.since + Self.doubt > .now else { return nil }
        return .some(known.name)
    }

    /// Calls `body` once, on the loop: with the name, or with nil if there is none, or none in time.
    func find(_ uid: UInt32, on loop: Loop, _ body: @escaping (String?) -> Void) {
        if let name = known(uid) { return body(name) }
        let question = Question(body)
        _ = loop.after(Self.timeout) { question.answer(nil) }
        let asked = LoopBound(question, on: loop)
        threads[Int(uid) % threads.count].run(for: "") {
            let name = self.lookUp(uid)
            self.names.withLock { names in
                if names.count >= Self.most { names = [:] }
                // Another look-up may have found it meanwhile.
                if name != nil || names[uid]?.name == nil { names[uid] = Known(name: name, since: .now) }
            }
            loop.execute { asked.value.answer(name) }
        }
    }

    private final class Question {
        private var body: ((String?) -> Void)?

        init(_ body: @escaping (String?) -> Void) { self.body = body }

        func answer(_ name: String?) {
            body?(name)
            body = nil
        }
    }
}
