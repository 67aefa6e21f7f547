import JSON
import Linux
import SyntaxChecking
import Testing

@testable import quickconnect_scripts

@Suite("What the macros' process is given next")
struct MacroFeedTests {
    /// A macro; another path is another text.
    private static func entry(_ name: String, _ path: String = "a") -> MacroListing.Entry {
        MacroListing.Entry(name: name, path: path, version: nil, json: [:])
    }

    private static func feed(_ entries: MacroListing.Entry...) -> MacroFeed {
        let feed = MacroFeed()
        feed.begin()
        feed.take(MacroListing(entries: entries))
        return feed
    }

    private static func change(_ step: MacroFeed.Step?) -> MacroChange? {
        if case .send(let change)? = step { change } else { nil }
    }

    private static func isRead(_ step: MacroFeed.Step?, _ path: String) -> Bool {
        if case .read(let entry)? = step { entry.path == path } else { false }
    }

    private static func isCheck(_ step: MacroFeed.Step?) -> Bool { if case .check? = step { true } else { false } }

    private static func isGoOn(_ step: MacroFeed.Step?) -> Bool { if case .goOn? = step { true } else { false } }

    private let unreadable = FileText.Problem(message: "is not UTF-8")
    private let text = MacroChange.text("x", name: "m", path: "a", functionBytes: 1)

    @Test func `a text that comes while no process is there is checked, and given to the next one`() {
        let feed = Self.feed(Self.entry("m"))
        #expect(Self.isRead(feed.step(), "a"))
        // The process has ended.
        feed.take(Self.entry("m"), text: .success("x"))
        feed.begin()
        feed.goOn()
        #expect(Self.isCheck(feed.step()))
        #expect(feed.step() == nil)
        feed.take(Self.entry("m"), verdict: .valid(functionBytes: 1))
        #expect(Self.change(feed.step()) == text)
        #expect(Self.isGoOn(feed.step()) && feed.has("m") && feed.step() == nil)
    }

    @Test func `a text that is read or checked while the process is replaced is given to the next one`() {
        let feed = Self.feed(Self.entry("m"))
        _ = feed.step()
        feed.begin()
        #expect(feed.step() == nil)
        feed.take(Self.entry("m"), text: .success("x"))
        #expect(Self.isCheck(feed.step()))
        feed.begin()
        feed.take(Self.entry("m"), verdict: .valid(functionBytes: 1))
        #expect(Self.change(feed.step()) == text)
        #expect(feed.step() == nil)
    }

    @Test(arguments: [true, false])
    func `a macro that is removed while it is read or checked does not come back`(isRead: Bool) {
        let feed = Self.feed(Self.entry("m"), Self.entry("n"))
        _ = feed.step()
        if !isRead {
            feed.take(Self.entry("m"), text: .success("x"))
            _ = feed.step()
        }
        feed.take(MacroListing(entries: [Self.entry("n")]))
        if isRead {
            feed.take(Self.entry("m"), text: .success("x"))
        } else {
            feed.take(Self.entry("m"), verdict: .valid(functionBytes: 1))
        }
        #expect(Self.isRead(feed.step(), "a"), "the next one")
        feed.take(Self.entry("n"), text: .failure(unreadable))
        _ = feed.step()
        feed.goOn()
        #expect(Self.isGoOn(feed.step()))
    }

    @Test func `of a macro that changes while it is checked, the newer text is given`() {
        let feed = Self.feed(Self.entry("m"))
        _ = feed.step()
        feed.take(Self.entry("m"), text: .success("x"))
        _ = feed.step()
        feed.take(MacroListing(entries: [Self.entry("m", "b")]))
        feed.take(Self.entry("m"), verdict: .valid(functionBytes: 1))
        #expect(Self.isRead(feed.step(), "b") && !feed.has("m"))
    }

    @Test func `the process is told why a text cannot be read`() {
        let feed = Self.feed(Self.entry("m"))
        _ = feed.step()
        feed.take(Self.entry("m"), text: .failure(unreadable))
        let mistake = MacroChange.mistake(["message": "the file is not UTF-8"], name: "m", path: "a")
        #expect(Self.change(feed.step()) == mistake && feed.has("m"))
    }

    @Test func `a file that has gone meanwhile is no mistake, and is read when it is there again`() {
        let feed = Self.feed(Self.entry("m"))
        _ = feed.step()
        feed.take(Self.entry("m"), text: nil)
        #expect(Self.change(feed.step()) == .removed(name: "m") && !feed.has("m"))
        feed.take(MacroListing(entries: [Self.entry("m")]))
        #expect(Self.isRead(feed.step(), "a"))
    }
}
