/// The types of files, by their endings.
package enum FileType {
    private static let pages = [
        "css": "text/css; charset=utf-8", "htm": "text/html; charset=utf-8", "html": "text/html; charset=utf-8",
        "ico": "image/x-icon", "js": "text/javascript; charset=utf-8", "json": "application/json",
        "map": "application/json", "md": "text/markdown; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
        "pdf": "application/pdf", "svg": "image/svg+xml", "ts": "text/plain; charset=utf-8",
        "txt": "text/plain; charset=utf-8", "wasm": "application/wasm", "webmanifest": "application/manifest+json",
        "woff": "font/woff", "woff2": "font/woff2",
    ]
    private static let media = [
        "aac": "audio/aac", "aif": "audio/aiff", "aiff": "audio/aiff", "caf": "audio/x-caf", "flac": "audio/flac",
        "m4a": "audio/mp4", "mp3": "audio/mpeg", "oga": "audio/ogg", "ogg": "audio/ogg", "opus": "audio/ogg",
        "wav": "audio/wav", "weba": "audio/webm",
        "avif": "image/avif", "bmp": "image/bmp", "gif": "image/gif", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "png": "image/png", "webp": "image/webp",
        "m4v": "video/mp4", "mkv": "video/x-matroska", "mov": "video/quicktime", "mp4": "video/mp4",
        "ogv": "video/ogg", "webm": "video/webm",
    ]

    /// Of a file of pages; nil for others. Those do not exist for browsers, so nobody publishes a key by leaving it in a
    /// folder of pages.
    package static func page(_ name: String) -> String? {
        ending(name).flatMap { pages[$0] ?? media[$0] }
    }

    /// Of a file of the media folder that may be shown: sound, pictures and video; nil for all others. A browser saves those
    /// and never shows them, because whoever wrote them could have written a page.
    package static func shown(_ name: String) -> String? { media[ending(stored(name)) ?? ""] }

    /// The name that a file gets in the media folder: without an ending it is a recording, as in the book.
    package static func stored(_ name: String) -> String { ending(name) == nil ? "\(name).caf" : name }

    private static func ending(_ name: String) -> String? {
        let file = name.split(separator: "/").last ?? ""
        return file.lastIndex(of: ".").map { file[file.index(after: $0)...].lowercased() }
    }
}
