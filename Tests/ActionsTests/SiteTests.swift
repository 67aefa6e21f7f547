import Testing

@testable import Actions

@Suite("Sites of actions")
struct SiteTests {
    @Test(arguments: [
        ("https://example.org/a?b#c", "https://example.org"), ("HTTPS://Example.ORG:443/", "https://example.org"),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080"), ("http://[::1]:80/", "http://[::1]"),
        ("https://user:word@example.org/", "https://example.org"), ("https://good.org@evil.org/", "https://evil.org"),
        ("qc://app/dir/page.html", "qc://app"), ("file:///home/me/page.html", "file://"),
        ("https://example.org", "https://example.org"),
        ("https://example.org?x=https://other.org", "https://example.org"),
    ])
    func `a page is from its scheme, host and port`(address: String, origin: String) {
        #expect(WebOrigin(address)?.description == origin)
    }

    @Test(arguments: [
        "", "about:blank", "data:text/html,x", "blob:https://example.org/1", "javascript:alert(1)", "https:example.org",
        "https://", "https:///path", "https://exa mple.org", "https://good.org\\@evil.org/", "https://bücher.de/",
        "https://example.org:99999/", "https://example.org:x/", "https://exam%70le.org", "1https://example.org", "://x",
        "file://host/share", "https://[::1", "https://[]/", "https://@/", "https://:80/", "https://a\u{0}.org",
    ])
    func `what has no site is from nowhere`(address: String) { #expect(WebOrigin(address) == nil) }

    @Test(arguments: [
        ("*", "*"), ("https://example.org", "https://example.org"), ("https://example.org/", "https://example.org"),
        ("example.org", "https://example.org"), ("example.org:8443", "https://example.org:8443"),
        ("https://*.Example.org", "https://*.example.org"), ("*.example.org", "https://*.example.org"),
        ("qc://app", "qc://app"), ("file://", "file://"), ("http://localhost:8000", "http://localhost:8000"),
    ])
    func `a site is written as it is read`(text: String, written: String) {
        #expect(Site(text)?.description == written)
        #expect(Site(written) == Site(text))
    }

    @Test(arguments: [
        "", "**", "*.", "https://", "https://example.org/path", "https://a.*.org", "https://*", "*://example.org",
        "https://example.org?x", "https://me@example.org", "file:///home", "a b",
    ])
    func `what is no site is refused`(text: String) { #expect(Site(text) == nil) }

    @Test(arguments: [
        ("https://example.org", "https://example.org/x", true), ("https://example.org", "http://example.org/", false),
        ("https://example.org", "https://example.org:444/", false),
        ("https://example.org", "https://www.example.org/", false),
        ("https://example.org", "https://example.org.evil.net/", false),
        ("https://*.example.org", "https://a.b.example.org/", true),
        ("https://*.example.org", "https://example.org/", true),
        ("https://*.example.org", "https://badexample.org/", false),
        ("https://*.example.org", "https://example.org.evil.net/", false), ("*", "http://anything.net/", true),
        ("*", "file:///etc/passwd", false), ("*", "qc://app/", false), ("file://", "file:///x.html", true),
        ("qc://app", "qc://other/", false),
    ])
    func `a site contains its pages and no others`(site: String, page: String, contains: Bool) throws {
        #expect(try #require(Site(site)).contains(try #require(WebOrigin(page))) == contains)
    }
}
