internal import JSON
internal import NIOCore
internal import NIOHTTP1

/// The current user, and logging in and out.
extension WebSite {
    func session(_ request: WebRequest) -> Response {
        guard case .session(_, let identity, let session) = request.sender else { return Self.unauthorized }
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
        do throws(Authenticator.Refusal) {
            if let token = body["token"]?.stringValue {
                let (id, identity) = try doorkeeper.logIn(token: token, from: request.address)
                return now(loggedIn(id, identity, request))
            }
            if let code = body["code"]?.stringValue {
                let (id, identity) = try doorkeeper.logIn(code: code, from: request.address)
                return now(loggedIn(id, identity, request))
            }
            return now(.error(.badRequest, "badRequest", "a log-in needs a «token» or a «code»"))
        } catch {
            return now(refused(error, request, isCode: body["token"]?.stringValue == nil))
        }
    }

    private func loggedIn(_ id: String, _ identity: WebIdentity, _ request: WebRequest) -> Response {
        log("web:\(identity.name) logged in from \(request.address)")
        let seconds = doorkeeper.sessionSeconds
        let cookie = Cookie.set(request.cookieName, id, seconds: seconds, isEncrypted: request.isEncrypted)
        return .json(.object(identity.json)).with("set-cookie", cookie).with("cache-control", "no-store")
    }

    /// - Parameter isCode: whether a code was refused, and not a token.
    func refused(_ refusal: Authenticator.Refusal, _ request: WebRequest, isCode: Bool = false) -> Response {
        switch refusal {
        case .unknown:
            log("a log-in from \(request.address) was refused")
            let message =
                isCode
                ? "that code is not valid: it works once, within two minutes; «quickconnect web open» prints a new one"
                : "that token is not valid; the owner makes a new one with «quickconnect web user add NAME --group home»"
            return .error(.unauthorized, "denied", message)
        case .wait(let pause):
            let seconds = max(1, pause.components.seconds)
            let message =
                "that \(isCode ? "code" : "token") is not valid, like others before it; wait \(seconds) seconds"
            return .error(.tooManyRequests, "overloaded", message).with("retry-after", "\(seconds)")
        }
    }

    func logOut(_ request: WebRequest) -> EventLoopFuture<Response> {
        guard case .session(let key, let identity, _) = request.sender else { return now(Self.unauthorized) }
        log("web:\(identity.name) logged out")
        let cookie = Cookie.set(request.cookieName, "", seconds: 0, isEncrypted: request.isEncrypted)
        doorkeeper.logOut(key)
        return now(Response(.noContent, headers: ["set-cookie": cookie]))
    }
}
