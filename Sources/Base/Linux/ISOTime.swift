internal import Glibc

/// A moment for people and other programs.
package enum ISOTime {
    /// `2026-11-22T05:00:00Z`.
    package static func now() -> String {
        var (seconds, parts) = (time(nil), tm())
        gmtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 32)
        let length = strftime(&buffer, buffer.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
