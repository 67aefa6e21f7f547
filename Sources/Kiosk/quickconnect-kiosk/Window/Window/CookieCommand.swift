import CWebKit
import JSON
import KioskRules
import QuickConnect
import QuickConnectClient

/// The verbs `cookies` and `setCookie` of the command `kiosk`: the cookies of pages, from outside of them.
struct CookieCommand {
    typealias Answer = (Result<JSONValue, HandlerCall.Failure>) -> Void

    let manager: UnsafeMutablePointer<WebKitCookieManager>
    /// The host of the window's own page; nil if it is a folder.
    let host: String?

    /// Answers the cookies of requests to an address.
    func list(_ value: JSONValue?, _ answer: @escaping Answer) {
        guard let text = value?.stringValue, let address = PageAddress(text),
            ["http", "https"].contains(address.scheme)
        else { return answer(.failure(.expected("address, such as https://example.org/", at: "/1", got: value))) }
        let end = AsyncEnd { object, result in
            var error: UnsafeMutablePointer<GError>?
            let list = webkit_cookie_manager_get_cookies_finish(cast(object), result, &error)
            defer { g_list_free_full(list) { soup_cookie_free($0.map { OpaquePointer($0) }) } }
            answer(Self.outcome(.array(Self.all(list)), error))
        }
        webkit_cookie_manager_get_cookies(manager, text, nil, AsyncEnd.run, end.retained)
    }

    /// Sets one.
    func set(_ value: JSONValue?, _ answer: @escaping Answer) {
        guard let object = value?.objectValue else {
            return answer(.failure(.expected("cookie, {name, value, domain, …}", at: "/1", got: value)))
        }
        let cookie: PageCookie
        do throws(PageCookie.Mistake) {
            cookie = try PageCookie(object, host: host)
        } catch {
            return answer(.failure(.expected(error.expected, at: "/1/\(error.member)", got: object[error.member])))
        }
        let made = soup_cookie_new(cookie.name, cookie.value, cookie.domain, cookie.path, Int32(cookie.maxAge ?? -1))
        defer { soup_cookie_free(made) }
        soup_cookie_set_secure(made, cookie.isSecure ? 1 : 0)
        soup_cookie_set_http_only(made, cookie.isHTTPOnly ? 1 : 0)
        let end = AsyncEnd { object, result in
            var error: UnsafeMutablePointer<GError>?
            _ = webkit_cookie_manager_add_cookie_finish(cast(object), result, &error)
            answer(Self.outcome(.null, error))
        }
        webkit_cookie_manager_add_cookie(manager, made, nil, AsyncEnd.run, end.retained)
    }

    private static func outcome(
        _ value: JSONValue,
        _ error: UnsafeMutablePointer<GError>?
    ) -> Result<JSONValue, HandlerCall.Failure> {
        error == nil ? .success(value) : .failure(HandlerCall.Failure(nil, takeMessage(error).text))
    }

    private static func all(_ list: UnsafeMutablePointer<GList>?) -> [JSONValue] {
        var found: [JSONValue] = []
        var each = list
        while let link = each {
            if let data = link.pointee.data { found.append(json(OpaquePointer(data))) }
            each = link.pointee.next
        }
        return found
    }

    private static func json(_ cookie: OpaquePointer) -> JSONValue {
        let text = { (value: UnsafePointer<CChar>?) in JSONValue.string(value.map { String(cString: $0) } ?? "") }
        return [
            "name": text(soup_cookie_get_name(cookie)), "value": text(soup_cookie_get_value(cookie)),
            "domain": text(soup_cookie_get_domain(cookie)), "path": text(soup_cookie_get_path(cookie)),
            "expires": soup_cookie_get_expires(cookie).map { .integer(Int64(g_date_time_to_unix($0))) } ?? .null,
            "secure": .bool(soup_cookie_get_secure(cookie) != 0),
            "httpOnly": .bool(soup_cookie_get_http_only(cookie) != 0),
        ]
    }
}
