package import Glibc

/// The address of a Unix socket (unix(7)): a path, or, with `@` in front, an abstract name.
package struct UnixSocketAddress: Sendable {
    private var address = sockaddr_un()
    private var length: socklen_t

    /// How long a path may be: `sun_path` without its NUL.
    package static let maximumBytes = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Throws `ENAMETOOLONG` if the path does not fit into `sun_path`.
    package init(_ path: String) throws(SystemCallError) {
        var bytes = Array(path.utf8)
        let isAbstract = bytes.first == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        guard !bytes.isEmpty, bytes.count <= Self.maximumBytes else {
            throw SystemCallError(
                "the path has to have 1 to \(Self.maximumBytes) bytes",
                bytes.isEmpty ? EINVAL : ENAMETOOLONG
            )
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // The name of an abstract socket is delimited only by its length.
        let size = isAbstract ? MemoryLayout<sa_family_t>.size + bytes.count : MemoryLayout<sockaddr_un>.size
        length = socklen_t(size)
    }

    /// The path of a bound socket; nil if it has another family, or no path.
    package static func path(of descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        return withUnsafeBytes(of: &address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Passes the address to connect(2), bind(2) or sendto(2).
    package func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
