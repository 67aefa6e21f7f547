import NIOHTTP1
import Testing

@testable import WebGateway

/// Which requests come in.
@Suite("The door")
struct RequestFilterTests {
    private let door = RequestFilter(names: ["kiosk.local"])

    private func head(_ headers: [(String, String)]) -> HTTPRequestHead {
        HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: HTTPHeaders(headers))
    }

    private func status(host: String...) -> UInt? {
        do throws(RequestFilter.Refusal) {
            _ = try door.host(of: head(host.map { ("Host", $0) }))
            return nil
        } catch {
            return error.status.code
        }
    }

    @Test(arguments: [
        "localhost", "LOCALHOST:8467", "127.0.0.1", "127.0.0.1:8467", "192.168.1.20:80", "[::1]", "[::1]:8467",
        "[fe80::1]:1", "kiosk.local", "Kiosk.Local:8467", "localhost:", "[::1]:", "localhost.", "kiosk.local.:8467",
    ])
    func `addresses, localhost and the host's names come in`(host: String) {
        #expect(status(host: host) == nil)
    }

    @Test(arguments: [
        "evil.test", "evil.test:8467", "127.0.0.1.evil.test", "localhost.evil.test", "kiosk.local.evil.test", "1.2.3",
        "1.2.3.256", "0x7f.0.0.1", "127.0.0.1.", "2130706433", "kiosk.local..", ".", "[evil]", "[]",
    ])
    func `other names don't`(host: String) {
        #expect(status(host: host) == 421)
    }

    @Test(arguments: [
        "", "a b", "localhost:99999", "localhost:x", "localhost:-1", "localhost:+1", "localhost@evil", "[::1", "[::1]x",
        "a\u{7F}", "localhost/x", "höst",
    ])
    func `what is no host is a bad request`(host: String) {
        #expect(status(host: host) == 400)
    }

    @Test func `there is one Host`() {
        #expect(status() == 400)
        #expect(status(host: "localhost", "localhost") == 400)
        #expect(status(host: "localhost", "evil.test") == 400)
        // Only HTTP/1.0 may have none.
        let head = HTTPRequestHead(version: .http1_0, method: .GET, uri: "/")
        #expect((try? door.host(of: head)) == "localhost")
    }

    private func origin(_ origins: [String], _ mustHave: Bool = true, headers: [(String, String)] = []) -> UInt? {
        do throws(RequestFilter.Refusal) {
            let head = head(origins.map { ("Origin", $0) } + headers)
            try door.checkOrigin(of: head, host: "kiosk.local:8467", mustHaveOrigin: mustHave)
            return nil
        } catch {
            return error.status.code
        }
    }

    @Test func `an origin is this host's, with its port and scheme`() {
        #expect(origin(["http://kiosk.local:8467"]) == nil)
        #expect(origin(["http://KIOSK.local:8467"]) == nil)
        for foreign in [
            "http://kiosk.local", "http://kiosk.local:8468", "https://kiosk.local:8467", "http://evil.test:8467",
            "null",
            "", "file://", "http://kiosk.local:8467.evil.test", "http://kiosk.local:8467/",
        ] {
            #expect(origin([foreign]) == 403, "\(foreign)")
        }
        #expect(origin([]) == 403)
        #expect(origin([], false) == nil)
        #expect(origin(["null"], false) == 403)
        #expect(origin(["http://kiosk.local:8467", "http://kiosk.local:8467"]) == 403)
    }

    @Test func `behind a proxy with TLS it is https`() {
        let proxied = [("X-Forwarded-Proto", "https")]
        #expect(origin(["https://kiosk.local:8467"], headers: proxied) == nil)
        #expect(origin(["http://kiosk.local:8467"], headers: proxied) == 403)
    }

    @Test func `of several proxies the first one counts, and a scheme's own port is none`() throws {
        for list in ["https, http", "https,http", "HTTPS"] {
            let head = head([
                ("Host", "Kiosk.local:443"), ("X-Forwarded-Proto", list), ("Origin", "https://kiosk.local"),
            ])
            let host = try door.host(of: head)
            #expect(host == "kiosk.local")
            try door.checkOrigin(of: head, host: host, mustHaveOrigin: true)
        }
        for (host, origin) in [
            ("kiosk.local", "http://kiosk.local:80"), ("kiosk.local:80", "http://kiosk.local"),
            ("kiosk.local:", "http://kiosk.local"), ("kiosk.local.", "http://kiosk.local."),
        ] {
            let head = head([("Host", host), ("X-Forwarded-Proto", "http, https"), ("Origin", origin)])
            try door.checkOrigin(of: head, host: try door.host(of: head), mustHaveOrigin: true)
        }
        for (host, origin) in [("kiosk.local:443", "http://kiosk.local"), ("kiosk.local", "http://kiosk.local:443")] {
            let head = head([("Host", host), ("Origin", origin)])
            #expect(throws: RequestFilter.Refusal.self) {
                try door.checkOrigin(of: head, host: try door.host(of: head), mustHaveOrigin: true)
            }
        }
    }

    @Test(arguments: [
        ("http://kiosk.local/a.html?b=/c", "/a.html?b=/c", "kiosk.local"),
        ("HTTP://KIOSK.local:8467", "/", "KIOSK.local:8467"), ("https://[::1]:1?a", "/?a", "[::1]:1"),
        ("http:///a", "/a", ""), ("http://me@kiosk.local/a", "/a", "me@kiosk.local"), ("/http://a/", "/http://a/", "b"),
        ("*", "*", "b"), ("//a/b", "//a/b", "b"), ("ftp://a/b", "ftp://a/b", "b"), ("http:/a", "http:/a", "b"),
    ])
    func `a whole address as the target is a host and a path`(target: String, path: String, host: String) {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target, headers: ["Host": "b"]).plain
        #expect(head.uri == path && head.headers["host"] == [host])
    }

    @Test func `it does not make up for a header Host that is missing or twice`() {
        for hosts in [[], ["a", "b"]] {
            let headers = HTTPHeaders(hosts.map { ("Host", $0) })
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "http://localhost/", headers: headers)
            #expect(head.plain.headers["host"] == hosts)
        }
    }

    @Test func `spaces around a value are none of it`() {
        let head = head([("Host", " b \t"), ("A", ""), ("B", " \t "), ("C", "c d"), ("a", "\te ")]).plain
        #expect(head.headers.map(\.value) == ["b", "", "", "c d", "e"])
    }

    @Test func `a cookie is found by its whole name`() {
        func value(_ lines: String...) -> String? {
            Cookie.value("qc-8467", in: HTTPHeaders(lines.map { ("Cookie", $0) }))
        }
        #expect(value("qc-8467=abc") == "abc")
        #expect(value("a=b; qc-8467=abc; c=d") == "abc")
        #expect(value("xqc-8467=abc; qc-84670=def; qc=ghi") == nil)
        #expect(value("a=b", "qc-8467=abc") == "abc")
        #expect(Cookie.name(host: "localhost:8467") == "qc-8467" && Cookie.name(host: "[::1]:80") == "qc-80")
        #expect(Cookie.name(host: "localhost") == "qc" && Cookie.name(host: "[::1]") == "qc")
    }
}
