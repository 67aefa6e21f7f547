internal import CLinux
internal import Glibc
internal import Linux

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
        guard fstat(descriptor, &status) == 0, status.isFile else {
            close(descriptor)
            return status.isFolder ? .folder : nil
        }
        return .file(PageFile(descriptor: descriptor, count: Int(status.st_size), tag: "\"\(status.tag)\""))
    }

    /// Reads a part and closes the file; nil if it has become shorter. May block.
    func read(_ part: Range<Int>) -> [UInt8]? {
        defer { close(descriptor) }
        guard let bytes = Descriptor.read(part, of: descriptor), bytes.count == part.count else { return nil }
        return bytes
    }
}
