import CWebKit

/// A download, as the engine reports it.
final class Download {
    /// Until it is complete, it is stored with the pages' data, where the daemon's quotas do not apply.
    private static let mostBytes: UInt64 = 1 << 30

    let path: String
    private(set) var name = "download.bin"
    private var problem: String?
    private var bytes: UInt64 = 0
    private let ended: (Download, String?) -> Void

    init(_ download: UnsafeMutableRawPointer, _ path: String, ended: @escaping (Download, String?) -> Void) {
        self.path = path
        self.ended = ended
        let decide:
            @convention(c) (UnsafeMutableRawPointer, UnsafePointer<CChar>, UnsafeMutableRawPointer) -> gboolean = {
                download,
                suggestion,
                data in
                let file: Download = owner(data)
                file.name = Download.mediaName(String(cString: suggestion))
                webkit_download_set_allow_overwrite(cast(download), 1)
                // Escapes what is not a part of a path in an address.
                guard let destination = g_filename_to_uri(file.path, nil, nil) else {
                    file.problem = "\(file.path) cannot be its place"
                    webkit_download_cancel(cast(download))
                    return 1
                }
                defer { g_free(destination) }
                webkit_download_set_destination(cast(download), destination)
                return 1
            }
        connect(download, "decide-destination", unsafeBitCast(decide, to: GCallback.self), self)
        connectProgress(download)
    }

    private func connectProgress(_ download: UnsafeMutableRawPointer) {
        let received: @convention(c) (UnsafeMutableRawPointer, guint64, UnsafeMutableRawPointer) -> Void = {
            download,
            count,
            data in
            let file: Download = owner(data)
            file.bytes += UInt64(count)
            guard file.bytes > Download.mostBytes, file.problem == nil else { return }
            file.problem = "it has more than \(Download.mostBytes >> 20) MiB"
            webkit_download_cancel(cast(download))
        }
        connect(download, "received-data", unsafeBitCast(received, to: GCallback.self), self)
        let failed:
            @convention(c) (UnsafeMutableRawPointer, UnsafeMutablePointer<GError>, UnsafeMutableRawPointer) -> Void =
                { _, error, data in
                    let file: Download = owner(data)
                    file.problem = file.problem ?? String(cString: error.pointee.message)
                }
        connect(download, "failed", unsafeBitCast(failed, to: GCallback.self), self)
        // This signal also follows "failed".
        let finished: @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void = { _, data in
            let file: Download = owner(data)
            file.ended(file, file.problem)
        }
        connect(download, "finished", unsafeBitCast(finished, to: GCallback.self), self)
    }

    /// A name that the media folder accepts. A name without an extension would become a sound file there.
    private static func mediaName(_ suggestion: String) -> String {
        let base = suggestion.split(separator: "/").last.map(String.init) ?? "download"
        let printable = base.unicodeScalars.filter { $0.properties.generalCategory != .control }
        var name = String(String.UnicodeScalarView(printable.drop { $0 == "." }.prefix(100)))
        if name.isEmpty { name = "download" }
        return name.contains(".") ? name : "\(name).bin"
    }
}
