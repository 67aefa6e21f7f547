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
        case bytes([UInt8], Part)
        case file(descriptor: Int32, Part)
        case unsatisfiable(size: Int)
    }

    /// What is sent of a file.
    private struct Part: Sendable {
        var range: ByteRange
        var size: Int
        var tag: String

        var bytes: Range<Int> { if case .part(let bytes) = range { bytes } else { 0..<size } }

        func response(_ type: String) -> Response {
            var response = Response(.ok, headers: ["content-type": type, "etag": tag, "accept-ranges": "bytes"])
            response.name(range, of: size)
            return response
        }
    }

    /// What a request asks for.
    private struct Wish: Sendable {
        var known: Set<String>
        var isHead: Bool
        var range: String?
        /// With `If-Range`, a part is only wanted of the same file.
        var tagsOfRange: [String]

        init(_ head: HTTPRequestHead) {
            known = Set(head.headers[canonicalForm: "if-none-match"].map { Pages.tag(String($0)) })
            isHead = head.method == .HEAD
            let ranges = head.headers["range"]
            range = ranges.count == 1 ? ranges.first : nil
            tagsOfRange = head.headers["if-range"]
        }

        func part(of file: PageFile) -> Part {
            let isSame = tagsOfRange.allSatisfy { $0 == file.tag }
            return Part(range: ByteRange(isSame ? range : nil, size: file.count), size: file.count, tag: file.tag)
        }
    }

    /// The answer to GET or HEAD.
    func answer(
        _ path: PagePath,
        _ head: HTTPRequestHead,
        for peer: WebPeer,
        on thread: FairThread
    ) -> EventLoopFuture<Response> {
        guard let type = FileType.page(path.file) ?? folderType(path) else {
            return thread.loop.makeSucceededFuture(Self.notFound)
        }
        let wish = Wish(head)
        return thread.run(for: peer) {
            let content = content(of: path, wish)
            // Browsers ask for this one by themselves, for each page that names no icon.
            guard case .none = content, path.file == "favicon.ico", let icon = PagePath("/favicon.svg"),
                let type = FileType.page(icon.file)
            else { return (content, type) }
            return (self.content(of: icon, wish), type)
        }.map { Self.response($0.0, $0.1, path) }
    }

    /// A name without an extension may be a folder's.
    private func folderType(_ path: PagePath) -> String? { path.file.contains(".") ? nil : "text/html" }

    private static func tag(_ text: String) -> String { text.hasPrefix("W/") ? String(text.dropFirst(2)) : text }

    private static let notFound = Response.error(.notFound, "notFound", "there is no such page")

    /// Runs on the disk's thread.
    private func content(of path: PagePath, _ wish: Wish) -> Content {
        switch find(path) {
        case nil: return .none
        case .folder: return .folder
        case .file(let file):
            guard !wish.known.contains(file.tag), !wish.known.contains("*") else {
                close(file.descriptor)
                return .unchanged(tag: file.tag)
            }
            let part = wish.part(of: file)
            if case .unsatisfiable = part.range {
                close(file.descriptor)
                return .unsatisfiable(size: file.count)
            }
            if wish.isHead || part.bytes.count > Self.readBytes { return .file(descriptor: file.descriptor, part) }
            return file.read(part.bytes).map { .bytes($0, part) } ?? .none
        }
    }

    /// The pages that there are, sorted, if none has an address relative to the first one; else nil. May block.
    func instead(of address: String) -> [String]? {
        if let path = PagePath("/\(address.hasPrefix("./") ? String(address.dropFirst(2)) : address)") {
            if path.names.first == "media" { return nil }
            switch FileType.page(path.file) == nil && folderType(path) == nil ? nil : find(path) {
            case .file(let file)?:
                close(file.descriptor)
                return nil
            case .folder?: return nil
            case nil: break
            }
        }
        let names = folders.flatMap { FileText.names(in: $0) ?? [] }
        return Set(names.filter { $0.hasSuffix(".html") && !$0.hasPrefix(".") && $0 != "login.html" }).sorted()
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
        case .unsatisfiable(let size): return .unsatisfiable(size: size)
        case .bytes(let bytes, let part):
            var response = part.response(type)
            response.body = .bytes(ByteBuffer(bytes: bytes))
            return response
        case .file(let descriptor, let part):
            var response = part.response(type)
            response.body = .file(NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor), part.bytes)
            return response
        }
    }
}
