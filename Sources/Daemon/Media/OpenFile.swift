internal import Glibc

/// The owner of a descriptor, which is closed with the last reference.
public final class OpenFile: Sendable {
    public let descriptor: Int32

    init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    var status: stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    /// A path to this very file, even if it was renamed, for libraries that open files themselves. (`sf_open_fd` of
    /// libsndfile 1.2 closes the descriptor on failure even when told not to.)
    public var path: String { "/proc/self/fd/\(descriptor)" }

    /// Its size in bytes; 0 if unknown.
    public var bytes: Int { status.map { Int($0.st_size) } ?? 0 }
}

extension stat {
    var isFile: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }

    /// A text that changes when the file does: its moment, its size, and which file it is.
    var tag: String {
        let moment = UInt64(bitPattern: Int64(st_mtim.tv_sec)) &* 1_000_000_000 &+ UInt64(st_mtim.tv_nsec)
        return [moment, UInt64(st_size), UInt64(st_ino)].map { String($0, radix: 36) }.joined(separator: "-")
    }

    /// When it was written, in milliseconds since 1970.
    var modified: Int { st_mtim.tv_sec &* 1000 &+ st_mtim.tv_nsec / 1_000_000 }
}
