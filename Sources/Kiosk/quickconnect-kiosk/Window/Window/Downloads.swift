import CWebKit
import Glibc
import JSON
import KioskRules
import Linux
import QuickConnectClient

/// Puts downloads of pages into the daemon's media folder, with the same command as any client's files, so the daemon
/// decides on owner, quota and name. Until a download is complete, it is in a folder of the window.
final class Downloads {
    /// A page may start any number of downloads; this many run at once.
    private static let maxAtOnce = 4

    private let folder: String
    private let daemon: DaemonHost
    private let isAllowed: Bool
    private let isUnseen: (UnsafeMutablePointer<WebKitWebView>) -> Bool
    private let report: (String) -> Void
    private var count = 0
    private var underWay = 0

    /// - Parameters:
    ///   - folder: the folder for incomplete files.
    ///   - isUnseen: whether a view has a page that nobody sees, which downloads nothing.
    ///   - report: shows a sentence to the person.
    init(
        _ context: UnsafeMutablePointer<WebKitWebContext>,
        folder: String,
        _ daemon: DaemonHost,
        isAllowed: Bool,
        isUnseen: @escaping (UnsafeMutablePointer<WebKitWebView>) -> Bool,
        report: @escaping (String) -> Void
    ) {
        self.folder = folder
        self.daemon = daemon
        self.isAllowed = isAllowed
        self.isUnseen = isUnseen
        self.report = report
        connect(context, "download-started") { [unowned self] parameters in
            if let download = parameters.raw(1) { begin(download) }
        }
    }

    private func begin(_ download: UnsafeMutableRawPointer) {
        if let view = webkit_download_get_web_view(cast(download)), isUnseen(view) {
            return webkit_download_cancel(cast(download))
        }
        guard isAllowed else {
            report("Nothing can be downloaded here.")
            return webkit_download_cancel(cast(download))
        }
        guard underWay < Self.maxAtOnce else {
            report("\(Self.maxAtOnce) downloads are already running; try again later.")
            return webkit_download_cancel(cast(download))
        }
        _ = try? Folders.make(folder)
        count += 1
        underWay += 1
        Download("\(folder)/\(getpid())-\(count)") { [weak self] file, problem in
            self?.finish(file, problem)
        }.follow(download)
    }

    private func finish(_ file: Download, _ problem: String?) {
        if let problem {
            underWay -= 1
            unlink(file.path)
            return report("\(file.name) could not be downloaded: \(problem)")
        }
        WindowUpload(file.path, as: file.name, daemon) { [weak self] problem in
            self?.underWay -= 1
            unlink(file.path)
            let lost = problem.map { "\(file.name) could not be kept: \($0)" }
            self?.report(lost ?? "\(file.name) is in the media folder.")
        }.sendNext()
    }
}

/// A download, as the engine reports it.
final class Download {
    /// Until it is complete, it is stored with the pages' data, where the daemon's quotas do not apply.
    private static let maxBytes: UInt64 = 1 << 30

    let path: String
    private(set) var name = "download.bin"
    private var problem: String?
    private var bytes: UInt64 = 0
    private let ended: (Download, String?) -> Void

    init(_ path: String, ended: @escaping (Download, String?) -> Void) {
        self.path = path
        self.ended = ended
    }

    /// Lives as long as the engine's own object.
    func follow(_ download: UnsafeMutableRawPointer) {
        connect(download, asking: "decide-destination") { [self] parameters in
            name = DownloadName.of(parameters.text(1))
            webkit_download_set_allow_overwrite(cast(download), 1)
            // Escapes what is not a part of a path in an address.
            guard let destination = g_filename_to_uri(path, nil, nil) else {
                stop(download, "\(path) cannot be its place")
                return true
            }
            defer { g_free(destination) }
            webkit_download_set_destination(cast(download), destination)
            return true
        }
        connect(download, "received-data") { [self] parameters in
            bytes += parameters.count(1)
            guard bytes > Self.maxBytes, problem == nil else { return }
            stop(download, "it has more than \(Self.maxBytes >> 20) MiB")
        }
        connect(download, "failed") { [self] parameters in
            guard let error: UnsafeMutablePointer<GError> = parameters.pointer(1) else { return }
            problem = problem ?? String(cString: error.pointee.message)
        }
        // This signal also follows "failed".
        connect(download, "finished") { [self] _ in ended(self, problem) }
    }

    private func stop(_ download: UnsafeMutableRawPointer, _ reason: String) {
        problem = reason
        webkit_download_cancel(cast(download))
    }

}

/// Uploads a file into the media folder, piece by piece.
final class WindowUpload {
    private static let pieceBytes = 512 << 10

    private let descriptor: Int32
    private let name: String
    private let daemon: DaemonHost
    private let ended: (String?) -> Void
    private var offset = 0

    init(_ path: String, as name: String, _ daemon: DaemonHost, _ ended: @escaping (String?) -> Void) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        self.name = name
        self.daemon = daemon
        self.ended = ended
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func sendNext() {
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        let count = pread(descriptor, &piece, piece.count, off_t(offset))
        guard count >= 0 else { return ended(SystemCallError.text(errno)) }
        let data = piece.withUnsafeBytes { Base64.encode(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        // A piece that is not full is the last one.
        let isLast = count < Self.pieceBytes
        var options: JSONObject = [:]
        if offset == 0 { options["begin"] = true }
        if isLast { options["end"] = true }
        let parameters: [JSONValue] = [
            "write", .string(name), .integer(Int64(offset)), .string(data), .object(options),
        ]
        offset += count
        daemon.call("media", .array(parameters), timeout: .seconds(60)) { [self] result in
            if case .failure(let failure) = result { return ended(failure.message) }
            if isLast { ended(nil) } else { sendNext() }
        }
    }
}
