/// The only types that are served. Other files do not exist for browsers, so nobody publishes a key by leaving it in a
/// folder.
enum ContentType {
    private static let types = [
        "css": "text/css; charset=utf-8", "flac": "audio/flac", "gif": "image/gif", "htm": "text/html; charset=utf-8",
        "html": "text/html; charset=utf-8", "ico": "image/x-icon", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "js": "text/javascript; charset=utf-8", "json": "application/json", "map": "application/json",
        "md": "text/markdown; charset=utf-8", "mjs": "text/javascript; charset=utf-8", "mp3": "audio/mpeg",
        "mp4": "video/mp4", "oga": "audio/ogg", "ogg": "audio/ogg", "opus": "audio/ogg", "pdf": "application/pdf",
        "png": "image/png", "svg": "image/svg+xml", "ts": "text/plain; charset=utf-8",
        "txt": "text/plain; charset=utf-8", "wav": "audio/wav", "webm": "video/webm",
        "webmanifest": "application/manifest+json", "webp": "image/webp", "woff": "font/woff", "woff2": "font/woff2",
    ]

    static func of(_ file: String) -> String? {
        guard let dot = file.lastIndex(of: ".") else { return nil }
        return types[file[file.index(after: dot)...].lowercased()]
    }
}
