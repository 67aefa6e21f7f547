import KioskRules
import Testing

@Suite("Where a window logs itself in")
struct OwnGatewayTests {
    @Test(
        "at the log-in page of its own gateway, wherever that leads then",
        arguments: [
            ("http://127.0.0.1:8467", "http://127.0.0.1:8467/login.html"),
            ("http://127.0.0.1:8467", "http://localhost:8467/login.html?next=sign.html"),
            ("http://localhost:8467", "http://[::1]:8467/login.html?next=a%2Fb.html"),
            ("http://192.168.1.5:8467", "http://192.168.1.5:8467/login.html"),
            ("https://kiosk.local/device", "https://kiosk.local/device/login.html?next=sign.html"),
            ("https://kiosk.local", "https://KIOSK.local:443/login.html"),
        ]
    )
    func own(gateway: String, address: String) {
        #expect(OwnGateway(link: "\(gateway)/login.html#code=abc").login(at: address) == "\(address)#code=abc")
    }

    @Test(
        "not elsewhere: who has the code is somebody here",
        arguments: [
            "http://127.0.0.1:8468/login.html", "https://127.0.0.1:8467/login.html",
            "http://example.org:8467/login.html",
            "http://example.org/login.html", "http://127.0.0.1:8467@example.org/login.html",
            "http://127.0.0.1:8467.example.org/login.html", "http://127.0.0.1:8467/shop/login.html",
            "http://127.0.0.1:8467/login.htm", "http://127.0.0.1:8467/", "http://127.0.0.1:8467/login.html#code=old",
            "http://1২7.0.0.1:8467/login.html", "http://:8467/login.html", "qc://app/login.html", "file:///login.html",
            "about:blank", "",
        ]
    )
    func others(address: String) {
        #expect(OwnGateway(link: "http://127.0.0.1:8467/login.html#code=abc").login(at: address) == nil)
    }

    @Test("nor where another program may listen, or answer to the name")
    func doubtful() {
        let v6 = "http://[::1]:8467/login.html"
        #expect(OwnGateway(link: "http://127.0.0.1:8467/login.html#code=abc").login(at: v6) == nil)
        let named = "http://kiosk.local:8467/login.html"
        #expect(OwnGateway(link: "\(named)#code=abc").login(at: named) == nil)
    }

    @Test("nobody reads a code of a log-in")
    func withoutCode() {
        #expect(
            OwnGateway.withoutCode("http://[::1]:1/a/login.html?next=b#code=abc")
                == "http://[::1]:1/a/login.html?next=b"
        )
        let own = "http://sign.local/door.html#code=7"
        #expect(OwnGateway.withoutCode(own) == own)
    }

    @Test("it is safe where nobody else can answer")
    func safe() {
        for address in ["https://a.local/login.html", "http://10.0.0.1/login.html", "http://[fe80::1]:80/login.html"] {
            #expect(OwnGateway.isSafe(address))
        }
        for address in ["http://a.local/login.html", "http:///login.html", "http://1২7.0.0.1/login.html"] {
            #expect(!OwnGateway.isSafe(address))
        }
    }

    @Test(
        "an answer that is no such address is of no use",
        arguments: ["", "#code=a", "http://127.0.0.1:8467/login.html", "x"]
    )
    func answers(link: String) {
        #expect(OwnGateway(link: link).login(at: "http://127.0.0.1:8467/login.html") == nil)
    }
}
