import CLinux
import CWebKit
import Glibc
import Linux

/// Serves the files of folders as `qc://HOST/…`. This is an origin of its own, with modules, fetch, workers and
/// storage, which `file:` does not have.
final class FolderScheme {
    private var folders: [String: [String]] = [:]
    /// Serves `qc://HOST/media/…`, unless the folder has a file of that address.
    var media: MediaScheme?
    private var mediaHosts: Set<String> = []

    init(_ context: UnsafeMutablePointer<WebKitWebContext>) {
        let answer: WebKitURISchemeRequestCallback = { request, data in
            guard let request, let data else { return }
            let scheme: FolderScheme = owner(data)
            scheme.answer(request)
        }
        webkit_web_context_register_uri_scheme(context, "qc", answer, Unmanaged.passUnretained(self).toOpaque(), nil)
        let security = webkit_web_context_get_security_manager(context)
        webkit_security_manager_register_uri_scheme_as_secure(security, "qc")
        // The engine sends no Origin to a scheme, so it must itself keep pages of other origins, also in frames, from
        // showing, fetching and sending anything here.
        webkit_security_manager_register_uri_scheme_as_display_isolated(security, "qc")
    }

    /// Serves the files of folders under a host; the first folder that has a file is used. Only the first may have the
    /// index.html.
    /// - Parameter withMedia: whether it has the media folder, too.
    func serve(_ paths: [String], as host: String, withMedia: Bool = false) {
        folders[host] = paths
        if withMedia { mediaHosts.insert(host) }
    }

    private func answer(_ request: UnsafeMutablePointer<WebKitURISchemeRequest>) {
        let address = webkit_uri_scheme_request_get_uri(request).map { String(cString: $0) } ?? ""
        let place = FolderAddress(address)
        guard let place, let paths = folders[place.host] else { return fail(request, "\(address) is not served") }
        let isMedia = mediaHosts.contains(place.host) && place.page.names.first == "media"
        let asked = isMedia ? SchemeRequest(request) : nil
        // The page itself is the folder's own: without it, none is shown.
        for path in place.page.file == "index.html" ? paths.prefix(1) : paths[...] {
            guard let file = File(place.page.file, in: path) else { continue }
            if let asked, asked.method != "GET", asked.method != "HEAD" {
                let message = "the page's folder has a file of this address, which wins; choose another name"
                return asked.refuse(409, "busy", message)
            }
            return finish(request, file)
        }
        if let asked, let media { return media.answer(place.page, asked) }
        fail(request, "\(place.page.file) is not a file of the page's folder")
    }

    private func finish(_ request: UnsafeMutablePointer<WebKitURISchemeRequest>, _ file: File) {
        // It is read and not mapped: if somebody truncates a mapped file meanwhile, accessing a missing byte would
        // crash the window.
        let descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0, let stream = g_unix_input_stream_new(descriptor, 1) else {
            return fail(request, "\(file.name) cannot be read")
        }
        let response = webkit_uri_scheme_response_new(stream, gint64(file.size))
        webkit_uri_scheme_response_set_content_type(response, MediaType.of(file.name))
        let headers = soup_message_headers_new(SOUP_MESSAGE_HEADERS_RESPONSE)
        // So that a changed file appears at the next reload.
        soup_message_headers_append(headers, "Cache-Control", "no-cache")
        webkit_uri_scheme_response_set_http_headers(response, headers)
        webkit_uri_scheme_response_set_status(response, 200, nil)
        webkit_uri_scheme_request_finish_with_response(request, response)
        g_object_unref(response)
        g_object_unref(stream)
    }

    private func fail(_ request: UnsafeMutablePointer<WebKitURISchemeRequest>, _ message: String) {
        let error = g_error_new_literal(g_io_error_quark(), Int32(G_IO_ERROR_NOT_FOUND.rawValue), message)
        webkit_uri_scheme_request_finish_error(request, error)
        g_error_free(error)
    }
}

/// The parts of an address `qc://HOST/PATH`.
private struct FolderAddress {
    var host: String
    /// By the rule of pages in browsers: no hidden file, and nothing that leads out.
    var page: PagePath

    init?(_ address: String) {
        let rest = address.prefix { $0 != "?" && $0 != "#" }.dropFirst("qc://".count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        guard let page = PagePath(slash == rest.endIndex ? "/" : String(rest[slash...])) else { return nil }
        host = rest[..<slash].lowercased()
        self.page = page
    }
}

/// A file below a folder, never outside of it.
private final class File {
    let descriptor: Int32
    let name: String
    let size: Int

    init?(_ path: String, in folder: String) {
        name = path
        let root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { return nil }
        defer { close(root) }
        // Opening a pipe would otherwise wait and block the window.
        let opened = qc_open_beneath(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        var status = stat()
        guard opened >= 0, fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            if opened >= 0 { close(opened) }
            return nil
        }
        descriptor = opened
        size = Int(status.st_size)
    }

    deinit { close(descriptor) }
}

/// The media type of a file, by its extension.
private enum MediaType {
    static func of(_ name: String) -> String {
        if let type = FileType.page(name) { return type }
        // The system's list has the other types.
        guard let type = g_content_type_guess(name, nil, 0, nil) else { return "application/octet-stream" }
        defer { g_free(type) }
        guard let mime = g_content_type_get_mime_type(type) else { return "application/octet-stream" }
        defer { g_free(mime) }
        return String(cString: mime)
    }
}
