import KioskRules
import Testing

@Suite("What a kiosk does with an address")
struct NavigationRuleTests {
    let folder = NavigationRule(
        origins: ["qc://app"],
        resources: ["https://tiles.org"],
        urlCalls: true,
        schemes: ["Shop"]
    )
    let address = NavigationRule(
        origins: ["http://a.org:81"],
        resources: ["https://tiles.org"],
        urlCalls: false,
        schemes: ["shop"]
    )

    @Test(
        "calls are what stands behind the last part «call?» of the page's own origin",
        arguments: [
            ("qc://app/call?cmd=loc", "cmd=loc"),
            ("qc://app/dir/sub/call?cmd=a&msg=%22?/call?x", "cmd=a&msg=%22?/call?x"),
            ("qc://app/call?cmd=a&msg=50% #tail", "cmd=a&msg=50% #tail"), ("QC://APP/call?cmd=a", "cmd=a"),
        ]
    )
    func calls(text: String, query: String) {
        #expect(folder.decide(text, from: "qc://app/dir/index.html") == .call(query))
    }

    @Test(
        "what only looks like a call is none",
        arguments: [
            "qc://app/call", "qc://app/call?", "qc://app/recall?cmd=a", "qc://app/call/?cmd=a", "qc://app/#/call?a=b",
        ]
    )
    func noCalls(text: String) { #expect(folder.decide(text, from: "qc://app/") == .load) }

    @Test("an address is no call where addresses are none, or where it comes from a page of nobody who is listed")
    func switchedOff() {
        #expect(address.decide("http://a.org:81/call?cmd=a", from: "http://a.org:81/") == .load)
        for text in ["https://__bridge_loaded__/", "wvjbscheme://__WVJB_QUEUE_MESSAGE__", "shop://x"] {
            #expect(isRefused(address.decide(text, from: "http://a.org:81/")))
            #expect(isRefused(folder.decide(text, from: "https://tiles.org/")))
            #expect(isRefused(folder.decide(text, from: nil)))
        }
        #expect(isRefused(folder.decide("https://tiles.org/call?cmd=a", from: "qc://app/")))
    }

    @Test("the bridge's addresses are known in whatever case, and as WebKit completes them")
    func bridge() {
        for text in ["https://__bridge_loaded__/", "https://__BRIDGE_LOADED__", "wvjbscheme://__BRIDGE_LOADED__"] {
            #expect(folder.decide(text, from: "qc://app/") == .bridgeLoaded)
        }
        #expect(folder.decide("https://__wvjb_queue_message__/", from: "qc://app/") == .bridgeMessages)
        #expect(isRefused(folder.decide("wvjbscheme://other", from: "qc://app/")))
    }

    @Test("an address of the owner's scheme calls the command as the owner writes it")
    func schemes() {
        #expect(folder.decide("shop://a/b?c", from: "qc://app/") == .command("Shop", address: "shop://a/b?c"))
        #expect(folder.decideFromOutside("SHOP:x") == .command("Shop", address: "SHOP:x"))
        for text in ["other://x", "https://a.org/", "qc://app/call?cmd=a", "", "no address"] {
            #expect(isRefused(folder.decideFromOutside(text)))
        }
    }

    @Test("only what is listed loads, and beside calls by addresses only the page's own")
    func loading() {
        #expect(address.decide("http://a.org:81/x", from: nil) == .load)
        #expect(address.decide("https://tiles.org/x", from: "http://a.org:81/") == .load)
        #expect(isRefused(folder.decide("https://tiles.org/x", from: "qc://app/")))
        #expect(address.decide("https://tiles.org:443/x", from: nil) == .load)
        #expect(folder.decide("about:srcdoc", from: "qc://app/") == .load)
        #expect(folder.decide("blob:qc://app/1-2", from: "qc://app/") == .load)
        let others = [
            "http://a.org/", "http://a.org:82/", "https://a.org:81/", "http://a.org:81@evil.org/", "http://b.a.org:81/",
            "file:///etc/passwd",
            "ftp://a.org/", "mailto:a@a.org", "blob:https://evil.org/1", "", "x", "//a.org/",
        ]
        for text in others { #expect(isRefused(address.decide(text, from: "http://a.org:81/")), "\(text)") }
        #expect(isRefused(folder.decide("data:text/html,x", from: "qc://app/")))
    }

    private func isRefused(_ decision: NavigationRule.Decision) -> Bool {
        if case .refuse(let why) = decision { return !why.isEmpty }
        return false
    }
}
