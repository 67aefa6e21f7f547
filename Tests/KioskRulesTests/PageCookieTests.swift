import JSON
import KioskRules
import Testing

@Suite("Cookies from outside of pages")
struct PageCookieTests {
    @Test func `what is not said is the page's host, all of it, until the window ends`() throws {
        let cookie = try PageCookie(["name": "a", "value": "b=c"], host: "shop.example.org")
        #expect(cookie.domain == "shop.example.org" && cookie.path == "/" && cookie.maxAge == nil)
        #expect(!cookie.isSecure && !cookie.isHTTPOnly && cookie.name == "a" && cookie.value == "b=c")
    }

    @Test func `each is read`() throws {
        let object: JSONObject = [
            "name": "a", "value": "", "domain": ".Example.org", "path": "/x", "maxAge": 0, "secure": true,
            "httpOnly": true,
        ]
        let cookie = try PageCookie(object, host: nil)
        #expect(cookie.domain == ".example.org" && cookie.path == "/x" && cookie.maxAge == 0)
        #expect(cookie.isSecure && cookie.isHTTPOnly)
    }

    @Test(
        arguments: [
            (["value": "b"], "name"), (["name": "a"], "value"), (["name": "a=b", "value": ""], "name"),
            (["name": "", "value": ""], "name"), (["name": "a", "value": "x\ny"], "value"),
            (["name": 1, "value": ""], "name"),
            (["name": "a", "value": "", "domain": "."], "domain"),
            (["name": "a", "value": "", "domain": "a/b"], "domain"),
            (["name": "a", "value": "", "path": "x"], "path"), (["name": "a", "value": "", "path": "/;x"], "path"),
            (["name": "a", "value": "", "maxAge": 1e12], "maxAge"),
            (["name": "a", "value": "", "maxAge": "1"], "maxAge"),
            (["name": "a", "value": "", "secure": 1], "secure"),
            (["name": "a", "value": "", "samesite": true], "samesite"),
        ] as [(JSONObject, String)]
    )
    func `a member that does not fit is named`(object: JSONObject, member: String) {
        let mistake = #expect(throws: PageCookie.Mistake.self) { try PageCookie(object, host: "a.org") }
        #expect(mistake?.member == member && mistake?.expected.contains("'\(member)'") == true)
    }

    @Test func `a page of a folder has no host`() {
        let mistake = #expect(throws: PageCookie.Mistake.self) {
            try PageCookie(["name": "a", "value": ""], host: nil)
        }
        #expect(mistake?.member == "domain")
    }
}
