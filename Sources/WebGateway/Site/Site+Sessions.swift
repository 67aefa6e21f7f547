internal import JSON
internal import NIOCore
internal import NIOHTTP1

/// The current user, and logging in and out.
extension Site {
    func identity(_ request: WebRequest) -> (key: String, identity: Identity, session: Sessions.Session)? {
        Cookie.value(request.cookieName, in: request.head.headers).flatMap { doorkeeper.identity(session: $0) }
    }

    func session(_ request: WebRequest) -> Response {
        guard let (_, identity, session) = identity(request) else { return Self.unauthorized }
        var members = identity.json
        members["expires"] = .integer(session.expires)
        members.merge(facts)
        return .json(.object(members))
    }

    /// `{"code": …}` or `{"token": …}`. It must be JSON, which a form on another site cannot send.
    func logIn(_ request: WebRequest) -> EventLoopFuture<Response> {
        let type = request.head.headers["content-type"].first?.lowercased() ?? ""
        let body = (try? JSONParser.parse(String(buffer: request.body)))?.objectValue
        guard type.hasPrefix("application/json"), let body else {
            return now(.error(.badRequest, "badRequest", #"a log-in is JSON: {"token": "…"}, or {"code": "…"}"#))
        }
        let login: EventLoopFuture<(id: String, identity: Identity)>
        if let token = body["token"]?.stringValue {
            login = doorkeeper.logIn(token: token, from: request.address)
        } else if let code = body["code"]?.stringValue {
            login = doorkeeper.logIn(code: code, from: request.address)
        } else {
            return now(.error(.badRequest, "badRequest", "a log-in needs a «token» or a «code»"))
        }
        return login.assumeIsolated().map { id, identity in self.loggedIn(id, identity, request) }
            .flatMapErrorThrowing { self.refused($0, request) }.nonisolated()
    }

    private func loggedIn(_ id: String, _ identity: Identity, _ request: WebRequest) -> Response {
        tell("web:\(identity.name) logged in from \(request.address)")
        var response = Response.json(.object(identity.json))
        let seconds = doorkeeper.sessionSeconds
        let cookie = Cookie.set(request.cookieName, id, seconds: seconds, isEncrypted: request.isEncrypted)
        response.headers.add(name: "set-cookie", value: cookie)
        response.headers.add(name: "cache-control", value: "no-store")
        return response
    }

    func refused(_ error: any Error, _ request: WebRequest) -> Response {
        switch error as? Doorkeeper.Refusal {
        case .unknown:
            tell("a log-in from \(request.address) was refused")
            let message = "that token or code is not valid; a code works once, within two minutes"
            return .error(.unauthorized, "denied", message)
        case .wait(let pause):
            let seconds = max(1, pause.components.seconds)
            var response = Response.error(.tooManyRequests, "overloaded", "too many tries; wait \(seconds) seconds")
            response.headers.add(name: "retry-after", value: "\(seconds)")
            return response
        case .notKept(let problem):
            tell("a session cannot be kept: \(problem)")
            return .error(.insufficientStorage, "unavailable", "the session cannot be kept; the log says why")
        case nil: return .error(.internalServerError, "internal", "\(error)")
        }
    }

    func logOut(_ request: WebRequest) -> EventLoopFuture<Response> {
        guard let (key, identity, _) = identity(request) else { return now(Self.unauthorized) }
        tell("web:\(identity.name) logged out")
        let cookie = Cookie.set(request.cookieName, "", seconds: 0, isEncrypted: request.isEncrypted)
        let response = Response(.noContent, headers: ["set-cookie": cookie])
        // Logs out even if storing that fails.
        return doorkeeper.logOut(key).map { response }.recover { _ in response }
    }
}
