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
}
