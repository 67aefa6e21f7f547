internal import Glibc
internal import Linux
internal import NIOCore
internal import NIOHTTP1

/// The folders of pages, in order of precedence: an owner's file hides a shipped one.
struct Pages: Sendable {
    private let folders: [String]
    /// The folders of Debian's packaged libraries, by the name after `/lib/`.
    private let libraries: [String: String]

    /// What Debian's packages libjs-codemirror and libjs-leaflet install.
    private static let libraryNames = ["codemirror", "leaflet"]
    /// Files up to this size are read; the kernel sends larger ones.
    private static let readBytes = 256 << 10

    init(_ folders: [String], libraries: String) {
        self.folders = folders
        self.libraries = Dictionary(uniqueKeysWithValues: Self.libraryNames.map { ($0, "\(libraries)/\($0)") })
    }

    private enum Content: Sendable {
        case none
        case folder
        case unchanged(tag: String)
        case bytes([UInt8], tag: String)
        case file(descriptor: Int32, count: Int, tag: String)
    }

    /// The answer to GET or HEAD.
    func answer(
        _ path: PagePath,
        _ head: HTTPRequestHead,
        for peer: Peer,
        on thread: FairThread
    ) -> EventLoopFuture<Response> {
        guard let type = ContentType.of(path.file) ?? folderType(path) else {
            return thread.loop.makeSucceededFuture(Self.notFound)
        }
        let known = Set(head.headers[canonicalForm: "if-none-match"].map { Self.tag(String($0)) })
        let isHead = head.method == .HEAD
        return thread.run(for: peer) {
            let content = content(of: path, unless: known, isHead: isHead)
            // Browsers ask for this one by themselves, for each page that names no icon.
            guard case .none = content, path.file == "favicon.ico", let icon = PagePath("/favicon.svg"),
                let type = ContentType.of(icon.file)
            else { return (content, type) }
            return (self.content(of: icon, unless: known, isHead: isHead), type)
        }.map { Self.response($0.0, $0.1, path) }
    }

    /// A name without an extension may be a folder's.
    private func folderType(_ path: PagePath) -> String? { path.file.contains(".") ? nil : "text/html" }

    private static func tag(_ text: String) -> String { text.hasPrefix("W/") ? String(text.dropFirst(2)) : text }

    private static let notFound = Response.error(.notFound, "notFound", "there is no such page")

    /// Runs on the disk's thread.
    private func content(of path: PagePath, unless known: Set<String>, isHead: Bool) -> Content {
        switch find(path) {
        case nil: return .none
        case .folder: return .folder
        case .file(let file):
            guard !known.contains(file.tag), !known.contains("*") else {
                close(file.descriptor)
                return .unchanged(tag: file.tag)
            }
            if isHead || file.count > Self.readBytes {
                return .file(descriptor: file.descriptor, count: file.count, tag: file.tag)
            }
            return file.read().map { .bytes($0, tag: file.tag) } ?? .none
        }
    }

    private func find(_ path: PagePath) -> PageFile.Found? {
        if path.names.first == "lib", path.names.count > 2, let folder = libraries[path.names[1]] {
            return PageFile.open(path.names.dropFirst(2).joined(separator: "/"), in: folder)
        }
        var found: PageFile.Found?
        for folder in folders {
            switch PageFile.open(path.file, in: folder) {
            case .file(let file): return .file(file)
            case .folder: found = .folder
            case nil: break
            }
        }
        return found
    }

    private static func response(_ content: Content, _ type: String, _ path: PagePath) -> Response {
        switch content {
        case .none: return notFound
        case .folder:
            guard let name = path.names.last else { return notFound }
            return Response(.movedPermanently, headers: ["location": "\(Location.encode(name))/"])
        case .unchanged(let tag): return Response(.notModified, headers: ["etag": tag])
        case .bytes(let bytes, let tag):
            var response = Response(.ok, headers: ["content-type": type, "etag": tag])
            response.body = .bytes(ByteBuffer(bytes: bytes))
            return response
        case .file(let descriptor, let count, let tag):
            var response = Response(.ok, headers: ["content-type": type, "etag": tag])
            response.body = .file(NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor), count: count)
            return response
        }
    }
}
