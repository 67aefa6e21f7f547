package import Glibc

extension stat {
    package var isFile: Bool { st_mode & S_IFMT == S_IFREG }
    package var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }

    /// A text that changes when the file does: its moment, its size, and which file it is.
    package var tag: String {
        let moment = UInt64(bitPattern: Int64(st_mtim.tv_sec)) &* 1_000_000_000 &+ UInt64(st_mtim.tv_nsec)
        return [moment, UInt64(st_size), UInt64(st_ino)].map { String($0, radix: 36) }.joined(separator: "-")
    }

    /// When it was written, in milliseconds since 1970.
    package var modified: Int { st_mtim.tv_sec &* 1000 &+ st_mtim.tv_nsec / 1_000_000 }
}
