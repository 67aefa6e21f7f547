import Linux
import Testing

@testable import WebGateway

@Suite("The path of a page")
struct PagePathTests {
    @Test func `paths are decoded once`() {
        #expect(PagePath("/")?.file == "index.html")
        #expect(PagePath("/a/b.html?c=d/../e")?.file == "a/b.html")
        #expect(PagePath("/a/")?.file == "a/index.html")
        #expect(PagePath("/a%20b/c%C3%A4.js")?.file == "a b/cä.js")
        #expect(PagePath("/a%252e.js")?.file == "a%2e.js")
    }

    @Test(arguments: [
        "", "a", "*", "http://x/a", "/..", "/../etc/passwd", "/a/../b", "/%2e%2e/secret.txt", "/..%2fsecret.txt",
        "/.%2e/secret.txt", "/%2E./secret.txt", "/a%2f..%2f..%2fb", "/a%2Fb", "/%5c..%5cb", "/a\\b", "/.hidden",
        "/a/.git/x",
        "/a//b", "//etc/passwd", "/a%00.html", "/a%0a", "/%", "/%2", "/%zz", "/%c0%ae%c0%ae/x", "/%ff", "/./a", "/a/.",
        "/%E2%80%AE%00",
    ])
    func `no way out, no hidden file, no half escape`(target: String) {
        #expect(PagePath(target) == nil)
    }

    @Test func `a path has a limit`() {
        #expect(PagePath("/" + String(repeating: "a", count: 1023)) != nil)
        #expect(PagePath("/" + String(repeating: "a", count: 1024)) == nil)
    }

    @Test func `the way back is relative`() {
        #expect(Location.root(from: "/") == "" && Location.root(from: "/a.html?b=/c") == "")
        #expect(Location.root(from: "/a/b.html") == "../" && Location.root(from: "/a/b/") == "../../")
    }

    @Test func `only the log-in page and what it needs is public`() {
        for path in ["/login.html", "/login.js", "/login/x.svg", "/style.css", "/favicon.ico", "/favicon.svg"] {
            #expect(PagePath(path)?.isPublic == true, "\(path)")
        }
        for path in ["/", "/index.html", "/a/login.html", "/login.d/../x", "/loginx.html", "/quickconnect.js"] {
            #expect(PagePath(path)?.isPublic != true, "\(path)")
        }
    }

    @Test func `the list of types is closed`() {
        #expect(FileType.page("a.HTML") == "text/html; charset=utf-8")
        for name in ["a.key", "a.pem", "a", "a.yaml", "a.html~", "a.php", "a.sh"] {
            #expect(FileType.page(name) == nil)
        }
    }
}
