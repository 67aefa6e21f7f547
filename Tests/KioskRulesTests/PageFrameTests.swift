import JSON
import KioskRules
import Testing

@Suite("What a kiosk's window and its page say")
struct PageFrameTests {
    @Test("a frame is read as it is written")
    func frames() throws {
        for frame in [
            PageFrame(.lines, 12, "{\"a\":\" b\"}\n{}"), PageFrame(.open, 3), PageFrame(.urlCall, 0, "cmd=é 1"),
        ] {
            #expect(PageFrame(frame.line) == frame)
        }
        for text in ["", "l", "l ", "lx y", "l-1 x", "z1 x", "é1 x", "l99999999999999999999 x"] {
            #expect(PageFrame(text) == nil, "\(text)")
        }
    }

    @Test("a logged message is cut at its length, and says so")
    func log() {
        #expect(MessageLog.line(.sent, "abcdé", maximumLength: 5) == "SEND: abcdé")
        #expect(MessageLog.line(.received, "abcdéf", maximumLength: 5) == "RCVD: abcdé [...]")
    }

    @Test("the filter lets through what is listed, its WebSockets, and what a page has itself")
    func filter() throws {
        let rules = try #require(JSONParser.parse(ContentFilter.json(["https://a.org", "http://b.org:81"])).arrayValue)
        let patterns = rules.compactMap { $0.objectValue?["trigger"]?.objectValue?["url-filter"]?.stringValue }
        #expect(patterns.first == ".*")
        #expect(rules.first?.objectValue?["action"]?.objectValue?["type"] == "block")
        for pattern in ["^qc://", "^https://a\\.org[/:?#]", "^wss://a\\.org[/:?#]", "^http://b\\.org:81[/:?#]"] {
            #expect(patterns.contains(pattern), "\(pattern) in \(patterns)")
        }
    }
}
