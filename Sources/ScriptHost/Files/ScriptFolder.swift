internal import CLinux
internal import Glibc
internal import Linux

/// The folder whose scripts the host runs, and what changes in it.
///
/// What a change was is not looked at: the files themselves say, by their identity, size and time. So nothing is
/// missed where the kernel's queue overflows, where the folder is replaced, or where it appears later.
final class ScriptFolder {
    /// What tells one text of a file from another.
    struct Version: Equatable {
        private var device: UInt64
        private var file: UInt64
        private var size: Int
        private var seconds: Int
        private var nanoseconds: Int

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            device = UInt64(status.st_dev)
            file = UInt64(status.st_ino)
            size = Int(status.st_size)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }
    }

    let path: String
    /// Readable when something has changed; -1 where the kernel cannot watch.
    let descriptor: Int32

    init(path: String) {
        self.path = path
        descriptor = qc_watch_start()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Watches the folder and those that hold what its scripts have loaded. Says whether the folder is there.
    func watch(alsoFoldersOf files: Set<String>) -> Bool {
        let isThere = qc_watch_folder(descriptor, path) >= 0
        for file in files {
            if let slash = file.lastIndex(of: "/") { _ = qc_watch_folder(descriptor, "\(path)/\(file[..<slash])") }
        }
        return isThere
    }

    /// Takes what was told.
    func drain() { _ = qc_watch_drain(descriptor) }

    /// The scripts: the `*.js` files in it, not those in folders below. Hidden files are editors'.
    func scripts() -> [String] {
        (FileText.names(in: path) ?? []).filter { $0.hasSuffix(".js") && !$0.hasPrefix(".") && version($0) != nil }
    }

    func version(_ name: String) -> Version? { Version("\(path)/\(name)") }
}
