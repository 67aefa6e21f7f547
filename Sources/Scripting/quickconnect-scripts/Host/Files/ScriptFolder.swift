internal import CLinux
internal import Glibc
internal import Linux

/// The folder whose scripts the host runs, and its changes.
///
/// The kernel's events are only a signal; changes are found by the files' identity, size and time. So nothing is missed
/// if the kernel's queue overflows, the folder is replaced, or it appears later.
final class ScriptFolder {
    /// Identifies one version of a file.
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
    /// Readable when something has changed; -1 if the kernel cannot watch.
    let descriptor: Int32

    init(path: String) {
        self.path = path
        descriptor = qc_watch_start()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Watches the folder and those of the files that its scripts have loaded. Returns whether the folder exists.
    func watch(alsoFoldersOf files: Set<String>) -> Bool {
        let isThere = qc_watch_folder(descriptor, path) >= 0
        for file in files {
            if let slash = file.lastIndex(of: "/") { _ = qc_watch_folder(descriptor, "\(path)/\(file[..<slash])") }
        }
        return isThere
    }

    /// Whether there are events that nobody has consumed.
    var hasChanges: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return descriptor < 0 || poll(&entry, 1, 0) > 0
    }

    /// Consumes the pending events.
    func drain() { _ = qc_watch_drain(descriptor) }

    /// The scripts: the `*.js` files in it, without subfolders. Hidden files belong to editors.
    func scripts() -> [String] {
        (FileText.names(in: path) ?? []).filter { $0.hasSuffix(".js") && !$0.hasPrefix(".") && version($0) != nil }
    }

    func version(_ name: String) -> Version? { Version("\(path)/\(name)") }
}
