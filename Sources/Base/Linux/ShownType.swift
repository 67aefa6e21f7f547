/// How files of the media folder are served: sound, pictures and video as what they are; everything else as bytes that a
/// browser saves and never shows, because whoever wrote them could have written a page.
package enum ShownType {
    private static let shown = [
        "aac": "audio/aac", "aif": "audio/aiff", "aiff": "audio/aiff", "caf": "audio/x-caf", "flac": "audio/flac",
        "m4a": "audio/mp4", "mp3": "audio/mpeg", "oga": "audio/ogg", "ogg": "audio/ogg", "opus": "audio/ogg",
        "wav": "audio/wav", "weba": "audio/webm",
        "avif": "image/avif", "bmp": "image/bmp", "gif": "image/gif", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "png": "image/png", "webp": "image/webp",
        "m4v": "video/mp4", "mkv": "video/x-matroska", "mov": "video/quicktime", "mp4": "video/mp4",
        "ogv": "video/ogg", "webm": "video/webm",
    ]

    /// The type of a file that may be shown; nil for all others. Without an ending it is a recording, as in the book.
    package static func of(_ name: String) -> String? {
        let file = name.split(separator: "/").last ?? ""
        guard let dot = file.lastIndex(of: ".") else { return shown["caf"] }
        return shown[file[file.index(after: dot)...].lowercased()]
    }
}
