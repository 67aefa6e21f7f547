internal import CLinux
internal import Glibc

/// A regular file below a folder, open for reading. The user of ``descriptor`` must close it.
struct PageFile {
    let descriptor: Int32
    let count: Int
    let tag: String

    enum Found {
        case file(PageFile)
        /// It is a folder, and the address lacks the final slash.
        case folder
    }

    /// Nil if there is none. May block.
    static func open(_ path: String, in folder: String) -> Found? {
        let root = Glibc.open(folder, qc_o_path | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { return nil }
        defer { close(root) }
        // Prevents waiting for the other end of a pipe.
        let descriptor = qc_open_beneath(root, path, O_RDONLY | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return status.st_mode & S_IFMT == S_IFDIR ? .folder : nil
        }
        let moment = UInt64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ UInt64(status.st_mtim.tv_nsec)
        let tag =
            "\"\(String(moment, radix: 36))-\(String(status.st_size, radix: 36))-\(String(status.st_ino, radix: 36))\""
        return .file(PageFile(descriptor: descriptor, count: Int(status.st_size), tag: tag))
    }

    /// Reads a part and closes the file; nil if it has become shorter. May block.
    func read(_ part: Range<Int>) -> [UInt8]? {
        defer { close(descriptor) }
        var done = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: part.count) { bytes, initialized in
            while done < part.count {
                let start = bytes.baseAddress.map { $0 + done }
                let read = pread(descriptor, start, part.count - done, part.lowerBound + done)
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { break }
                done += read
            }
            initialized = done
        }
        return done == part.count ? bytes : nil
    }
}
