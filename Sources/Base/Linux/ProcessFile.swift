internal import Glibc

/// A process's data in /proc.
package enum ProcessFile {
    /// Resident memory in bytes. `statm` costs a few microseconds; getrusage(2) only returns the maximum.
    /// - Parameter process: its number, or `self`.
    package static func residentBytes(of process: String) -> Int {
        let fields = (text("/proc/\(process)/statm") ?? "").split(separator: " ")
        return (fields.dropFirst().first.flatMap { Int($0) } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
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
