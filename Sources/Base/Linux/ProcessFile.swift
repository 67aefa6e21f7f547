internal import Glibc

/// A process's data in /proc.
package enum ProcessFile {
    /// Resident memory in bytes. `statm` costs a few microseconds; getrusage(2) only returns the maximum.
    /// - Parameter process: its number, or `self`.
    package static func residentBytes(of process: String) -> Int {
        let fields = text("/proc/\(process)/statm").split(separator: " ")
        return (fields.dropFirst().first.flatMap { Int($0) } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// A file of one line; empty if the process is gone.
    package static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        }
    }
}
