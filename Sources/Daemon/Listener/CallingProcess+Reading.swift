import Glibc
import QuickConnect

extension CallingProcess {
    /// The process of a caller, if it has one.
    // Inlined into its caller, this crashes the optimizer of Swift 6.3.1.
    @inline(never)
    init?(of caller: Caller) {
        guard let pid = caller.pid else { return nil }
        self.init(pid: pid)
    }

    /// Reads /proc; the values are nil if it hides other users' processes.
    init(pid: Int32) {
        let program = Self.text("/proc/\(pid)/comm").map { String($0.prefix { $0 != "\n" }) }
        let isCut = program?.utf8.count == Self.kernelNameBytes
        self.init(
            unit: Self.text("/proc/\(pid)/cgroup").flatMap(Self.unit),
            program: program,
            wholeName: isCut ? program.flatMap { Self.wholeName($0, in: Self.text("/proc/\(pid)/cmdline") ?? "") } : nil
        )
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

    /// Reads what fits into a small buffer: these files are generated when read, and have no size.
    private static func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
        }
    }
}
