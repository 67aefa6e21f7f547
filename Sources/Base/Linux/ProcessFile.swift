package import Glibc

/// A process's data in /proc.
package enum ProcessFile {
    /// Resident memory in bytes. `statm` costs a few microseconds; getrusage(2) only returns the maximum.
    /// - Parameter process: its number, or `self`.
    package static func residentBytes(of process: String) -> Int {
        let fields = (text("/proc/\(process)/statm") ?? "").split(separator: " ")
        return (fields.dropFirst().first.flatMap { Int($0) } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// What proc_pid_stat(5) numbers from 2 on: its name is `)`. Empty if the process is gone.
    package static func status(of process: pid_t) -> [Substring] {
        // The name in parentheses may contain spaces.
        let text = text("/proc/\(process)/stat") ?? ""
        return text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
    }

    /// When a process was started, in ticks of the clock since the start of the system; nil if it is gone.
    package static func start(of process: pid_t) -> Int64? {
        let fields = status(of: process)
        return fields.count > 20 ? Int64(fields[20]) : nil
    }

    /// The beginning of a file; nil if it is empty or cannot be read, because the process is gone or somebody else's. These
    /// files are made when they are read, and have no size.
    package static func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
        }
    }
}
