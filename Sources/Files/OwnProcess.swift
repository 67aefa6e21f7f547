internal import Glibc

/// What this process was started as.
public enum OwnProcess {
    /// The path of its program.
    public static var program: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        return String(decoding: buffer.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    public static var environment: [String: String] {
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
