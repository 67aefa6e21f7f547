internal import CLinux
internal import Concurrency
internal import Glibc
internal import Linux
internal import Synchronization

/// Reports when a file of the pages changes. Its own thread sleeps until then.
final class PageWatcher: Sendable {
    private let folders: [String]
    private let changed: @Sendable () -> Void
    private let waker: Waker
    private let isStopped = Atomic<Bool>(false)

    /// An editor writes a file in several steps, so changes are reported after a pause.
    private static let settlingTime = Duration.milliseconds(100)
    private static let deepest = 16

    init(_ folders: [String], changed: @escaping @Sendable () -> Void) throws {
        self.folders = folders
        self.changed = changed
        waker = try Waker()
        let code = PThread.start("qc-pages") { [self] in run() }
        guard code == 0 else { throw SystemCallError("pthread_create", code) }
    }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
        waker.wake()
    }

    private func run() {
        let descriptor = qc_watch_start()
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        while !isStopped.load(ordering: .relaxed) {
            for folder in folders { watch(folder, descriptor, depth: 0) }
            guard waker.sleep(watching: descriptor, until: nil) else { continue }
            _ = waker.sleep(until: .now + Self.settlingTime)
            if qc_watch_drain(descriptor) == 1 { changed() }
        }
    }

    /// Watches a folder and its subfolders, each only once.
    private func watch(_ folder: String, _ descriptor: Int32, depth: Int) {
        guard depth < Self.deepest, qc_watch_folder(descriptor, folder) >= 0 else { return }
        for name in FileText.names(in: folder) ?? [] where !name.hasPrefix(".") {
            var status = stat()
            let path = "\(folder)/\(name)"
            if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                watch(path, descriptor, depth: depth + 1)
            }
        }
    }
}
