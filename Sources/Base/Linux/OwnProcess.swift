internal import Glibc

/// How this process was started.
package enum OwnProcess {
    /// The path of its program.
    package static var program: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        return String(decoding: buffer.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether standard error is the journal, which then reads a level in front of each line (systemd.exec(5),
    /// JOURNAL_STREAM: children inherit the variable, so its device and inode must be those of the descriptor).
    package static func logsToJournal(_ environment: [String: String]) -> Bool {
        var status = stat()
        guard let stream = environment["JOURNAL_STREAM"], fstat(STDERR_FILENO, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    package static var environment: [String: String] {
        var environment: [String: String] = [:]
        var entry = environ
        while let variable = entry.pointee {
            let pair = String(cString: variable).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { environment[String(pair[0])] = String(pair[1]) }
            entry += 1
        }
        return environment
    }
}
