import CWebKit
import Glibc
import Linux

/// Puts downloads of pages into the daemon's media folder, with the same command as any client's files, so the daemon
/// decides on owner, quota and name. Until a download is complete, it is in a folder of the window.
final class Downloads {
    /// A page may start any number of downloads; this many run at once.
    private static let mostAtOnce = 4

    private let folder: String
    private let daemon: DaemonHost
    private let isAllowed: Bool
    private let tell: (String) -> Void
    private var count = 0
    private var underWay = 0

    /// - Parameters:
    ///   - folder: the folder for incomplete files.
    ///   - tell: shows a sentence to the person.
    init(
        _ context: UnsafeMutablePointer<WebKitWebContext>,
        folder: String,
        _ daemon: DaemonHost,
        isAllowed: Bool,
        tell: @escaping (String) -> Void
    ) {
        self.folder = folder
        self.daemon = daemon
        self.isAllowed = isAllowed
        self.tell = tell
        let started: @convention(c) (UnsafeMutableRawPointer, OpaquePointer, UnsafeMutableRawPointer) -> Void = {
            _,
            download,
            data in
            let downloads: Downloads = owner(data)
            downloads.begin(UnsafeMutableRawPointer(download))
        }
        connect(context, "download-started", unsafeBitCast(started, to: GCallback.self), self)
    }

    private func begin(_ download: UnsafeMutableRawPointer) {
        guard isAllowed else {
            tell("Nothing can be downloaded here.")
            return webkit_download_cancel(cast(download))
        }
        guard underWay < Self.mostAtOnce else {
            tell("\(Self.mostAtOnce) downloads are already running; try again later.")
            return webkit_download_cancel(cast(download))
        }
        _ = try? Folders.make(folder)
        count += 1
        underWay += 1
        let file = Download(download, "\(folder)/\(getpid())-\(count)") { [weak self] file, problem in
            self?.finish(file, problem)
        }
        // Lives as long as the engine's own object.
        g_object_set_data_full(
            cast(download),
            "quickconnect",
            Unmanaged.passRetained(file).toOpaque(),
            { data in if let data { Unmanaged<Download>.fromOpaque(data).release() } }
        )
    }

    private func finish(_ file: Download, _ problem: String?) {
        if let problem {
            underWay -= 1
            unlink(file.path)
            return tell("\(file.name) could not be downloaded: \(problem)")
        }
        WindowUpload(file.path, as: file.name, daemon) { [weak self] problem in
            self?.underWay -= 1
            unlink(file.path)
            let lost = problem.map { "\(file.name) could not be kept: \($0)" }
            self?.tell(lost ?? "\(file.name) is in the media folder.")
        }.sendNext()
    }
}
