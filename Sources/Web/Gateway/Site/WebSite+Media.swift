internal import JSON
internal import Linux
internal import NIOCore
internal import NIOHTTP1
internal import QuickConnect

/// Files of the media folder by their addresses. The daemon decides who may have which, by its command `media`.
extension WebSite {
    // MARK: Reading

    /// GET and HEAD. A file of the pages wins.
    func media(_ request: WebRequest, _ calls: DaemonCalls) -> EventLoopFuture<Response> {
        guard let path = PagePath(request.head.uri) else {
            return now(Self.missing(.error(.notFound, "notFound", "there is no such file"), for: request))
        }
        guard request.identity != nil else { return now(Self.logInFirst(request, path)) }
        return pages.answer(path, request.head, for: request.peer, on: fair.files).assumeIsolated().flatMap { page in
            guard page.status == .notFound else {
                var page = page
                page.isPage = true
                return self.now(page)
            }
            return self.file(path, request, calls)
        }.nonisolated()
    }

    private func file(_ path: PagePath, _ request: WebRequest, _ calls: DaemonCalls) -> EventLoopFuture<Response> {
        do throws(RequestFilter.Refusal) { try door.checkSameSite(request.head, host: request.host) } catch {
            return now(Response(error))
        }
        guard let name = Self.mediaName(path) else {
            let message = "name a file: /media/NAME; the command «media» lists them"
            return now(Self.missing(.error(.notFound, "notFound", message), for: request))
        }
        let first = MediaCall.read(name, from: 0, atMost: 1)
        return calls.make([first], for: request.sender).assumeIsolated().map { replies in
            guard case .value(let text)? = replies.first, let facts = MediaFacts(text) else {
                return Self.missing(Response(refusalOfMedia: replies.first), for: request)
            }
            return self.answer(name, facts, request, calls)
        }.flatMapErrorThrowing { try Response.refusal($0) }.always { result in
            if case .success(let response) = result, case .stream = response.body { return }
            calls.release()
        }.nonisolated()
    }

    private func answer(
        _ name: String,
        _ facts: MediaFacts,
        _ request: WebRequest,
        _ calls: DaemonCalls
    ) -> Response {
        if facts.isKnown(request.head) { return Response(.notModified, headers: facts.headers) }
        var response = Response(.ok, headers: facts.headers)
        var range = 0..<facts.size
        switch facts.range(request.head) {
        case .whole: break
        case .part(let part): range = part
        case .unsatisfiable: return .unsatisfiable(size: facts.size)
        }
        response.name(facts.range(request.head), of: facts.size)
        response.headers.add(name: "content-type", value: FileType.shown(name) ?? "application/octet-stream")
        if FileType.shown(name) == nil {
            let file = PercentEncoding.encode(name.split(separator: "/").last.map(String.init) ?? name)
            response.headers.add(name: "content-disposition", value: "attachment; filename*=UTF-8''\(file)")
        }
        guard calls.take(MediaStream.reserve) else {
            return .overloaded("\(request.peer.words) has too much under way")
        }
        let stream = MediaStream(name, tag: facts.tag, range, calls, request.sender, dialer.loop)
        response.body = .stream(NIOLoopBound(stream.body, eventLoop: dialer.loop), count: range.count)
        return response
    }

    /// Its name in the media folder; nil if the address has none.
    static func mediaName(_ path: PagePath) -> String? {
        guard path.names.first == "media", path.names.count > 1, !path.isFolder else { return nil }
        return path.names.dropFirst().joined(separator: "/")
    }

    // MARK: Writing

    /// Why an upload is refused by its head; nil if it is not.
    func uploadRefusal(of request: WebRequest) -> Response? {
        let headers = request.head.headers
        guard let path = PagePath(request.head.uri) else {
            return .error(.notFound, "notFound", "no file can have that address")
        }
        let name = Self.mediaName(path)
        guard (request.head.method == .PUT) == (name != nil) else {
            return Self.notAllowed(name == nil ? "POST" : "GET, HEAD, PUT")
        }
        if headers.contains(name: "content-range") || headers.contains(name: "content-encoding") {
            let message = "send a whole file, as it is: without Content-Range and Content-Encoding"
            return .error(.badRequest, "badRequest", message)
        }
        let shares = request.query.split(separator: "&").filter { $0.prefix { $0 != "=" } == "shared" }
        guard shares.allSatisfy({ $0 == "shared=true" || $0 == "shared=false" }) else {
            return .error(.badRequest, "badRequest", "«shared» is true, for a file that all may read, or false")
        }
        do throws(PlainError) { _ = try WriteCondition.option(headers) } catch {
            return .error(.badRequest, "badRequest", error.description)
        }
        if name == nil, FormReader.boundary(headers["content-type"].first ?? "") == nil {
            let message = "send a form with the type multipart/form-data, or the bytes of a file by PUT /media/NAME"
            return .error(.unsupportedMediaType, "badRequest", message)
        }
        guard uploads[request.peer, default: 0] < dialer.uploadLimit else {
            return .overloaded("\(request.peer.words) is writing \(dialer.uploadLimit) files already")
        }
        return nil
    }

    /// Begins to write what the request brings. Its head has been accepted.
    /// - Returns: nil if its user's share is used up.
    func beginUpload(_ request: WebRequest, _ calls: DaemonCalls) -> MediaUpload? {
        guard let path = PagePath(request.head.uri), calls.take(MediaUpload.reserve) else { return nil }
        let peer = request.peer
        uploads[peer, default: 0] += 1
        let headers = request.head.headers
        var options: JSONObject = [:]
        if request.query.split(separator: "&").contains("shared=true") { options["shared"] = true }
        options["replaces"] = (try? WriteCondition.option(headers)) ?? nil
        let source: MediaUpload.Source =
            if let name = Self.mediaName(path) {
                .file(name, size: request.head.bodyCount)
            } else {
                .form(FormReader(boundary: FormReader.boundary(headers["content-type"].first ?? "") ?? ""))
            }
        return MediaUpload(source, options, request.sender, calls, dialer.loop) {
            self.uploads[peer] = self.uploads[peer].flatMap { $0 > 1 ? $0 - 1 : nil }
            self.fair.holdings.trimLater()
        }
    }

    /// Whether the pages have a file of an upload's address, which would hide what was written.
    func hidesUpload(_ request: WebRequest) -> EventLoopFuture<Bool> {
        guard let path = PagePath(request.head.uri), Self.mediaName(path) != nil else {
            return dialer.loop.makeSucceededFuture(false)
        }
        var head = request.head
        (head.method, head.headers) = (.HEAD, [:])
        return pages.answer(path, head, for: request.peer, on: fair.files).map { page in
            page.drop()
            return page.status == .ok
        }
    }

    static var hidden: Response {
        .error(.conflict, "busy", "the folder of the pages has a file of this address, which wins; choose another name")
    }

    // MARK: Refusals
}
