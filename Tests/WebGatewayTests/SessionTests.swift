import Digests
import JSON
import NIOCore
import Testing

@testable import WebGateway

@Suite("Who is let in")
struct SessionTests {
    /// The vectors of FIPS 180-4 and around the ends of blocks, as sha256sum(1) has them.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        (String(repeating: "a", count: 56), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
        (String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        (String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
    func `the hash is SHA-256`(text: String, hash: String) {
        #expect(SHA256.text(of: text) == hash)
    }

    @Test func `secrets have 144 bits in letters that need no escaping, and are compared whole`() {
        let secrets = (0..<1000).map { _ in Secret.make() }
        #expect(Set(secrets).count == 1000)
        #expect(
            secrets.allSatisfy { secret in
                secret.count == 24
                    && secret.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
            }
        )
        #expect(Secret.isSame("abc", "abc") && !Secret.isSame("abc", "abd") && !Secret.isSame("abc", "abcd"))
    }

    @Test func `a code works once, within two minutes`() throws {
        var codes = OneTimeCodes()
        let ann = OneTimeCodes.Person(name: "ann", isUser: true)
        let now = ContinuousClock.now
        func make(after seconds: Int = 0) -> String? { codes.make(for: ann, at: now + .seconds(seconds)) }
        func use(_ code: String, after seconds: Int) -> OneTimeCodes.Person? {
            codes.use(code, at: now + .seconds(seconds))
        }
        let code = try #require(make())
        #expect(use("other", after: 0) == nil)
        #expect(use(code, after: 119) == ann)
        #expect(use(code, after: 119) == nil)
        let late = try #require(make())
        #expect(use(late, after: 120) == nil)
        for _ in 0..<100 { _ = make() }
        #expect(make() == nil)
        #expect(make(after: 121) != nil)
    }

    @Test func `five tries a minute, for each address`() {
        var tries = Tries()
        let now = ContinuousClock.now
        func pause(_ address: String, after seconds: Int) -> Duration? {
            tries.pause(of: address, at: now + .seconds(seconds))
        }
        for second in 0..<5 {
            #expect(pause("a", after: second) == nil)
            tries.failed("a", at: now + .seconds(second))
        }
        #expect(pause("a", after: 5) == .seconds(55))
        #expect(pause("b", after: 5) == nil)
        #expect(pause("a", after: 60) == nil)
        tries.failed("a", at: now + .seconds(60))
        #expect(pause("a", after: 60) == .seconds(1))
        for number in 0..<10_000 { tries.failed("\(number)", at: now) }
    }

    @Test func `users and sessions are kept as text, and only fingerprints of what lets in`() throws {
        var users = Users()
        let token = users.add(WebIdentity("ann", groups: ["ops"]), at: 7)
        let text = users.json.text
        #expect(!text.contains(token) && text.contains(SHA256.text(of: token)))
        let read = try #require(Users(try JSONParser.parse(text)))
        #expect(read.all == users.all && read.user(token: token)?.identity == WebIdentity("ann", groups: ["ops"]))
        #expect(read.user(token: token + "x") == nil && read.user(token: "") == nil)
        let next = users.add(WebIdentity("ann"), at: 8)
        #expect(users.all.count == 1 && users.user(token: token) == nil && users.user(token: next) != nil)
        for broken in ["{}", "[1]", #"[{"name":"a:b","fingerprint":""}]"#, #"[{"name":"ann"}]"#] {
            #expect(Users(try JSONParser.parse(broken)) == nil, "\(broken)")
        }

        var sessions = Sessions()
        let id = sessions.begin("ann", isUser: true, at: 100, lasting: 50).id
        #expect(!sessions.json.text.contains(id))
        let kept = try #require(Sessions(try JSONParser.parse(sessions.json.text)))
        #expect(kept.find(id, at: 149)?.session.user == "ann" && kept.find(id, at: 150) == nil)
        #expect(kept.find(SHA256.text(of: id), at: 100) == nil, "what lies on the disk lets nobody in")
        let ended = sessions.endAll(ofUser: "ann")
        #expect(ended.count == 1 && sessions.all.isEmpty)
    }

    @Test func `sessions are written once a second, at once after a log-out, and again after a failure`() {
        var keeper = SessionKeeper()
        #expect(keeper.change() == .zero && keeper.change() == nil)
        #expect(keeper.begin() && !keeper.begin() && !keeper.isDirty)
        #expect(keeper.change() == nil && keeper.end(hasFailed: false) == .seconds(1))
        #expect(keeper.change(isUrgent: true) == .zero && keeper.begin(), "before its second is over")
        #expect(keeper.end(hasFailed: false) == nil && !keeper.begin(), "the second finds it done")
        #expect(keeper.change() == .seconds(1) && keeper.begin())
        #expect(keeper.change(isUrgent: true) == nil && keeper.end(hasFailed: false) == .zero && keeper.begin())
        #expect(keeper.end(hasFailed: true) == .seconds(5) && keeper.isDirty && keeper.isFailing)
        #expect(keeper.change() == nil && keeper.begin() && keeper.end(hasFailed: false) == nil)
        #expect(!keeper.isDirty && !keeper.isFailing)
    }

    @Test func `who logs in often ends sessions of nobody else`() {
        var sessions = Sessions()
        let ann = sessions.begin("ann", isUser: true, at: 1, lasting: 100_000)
        var ended: [String] = []
        let first = sessions.begin("bob", isUser: true, at: 2, lasting: 100_000)
        for time in 0..<1100 {
            ended += sessions.begin("bob", isUser: false, at: Int64(10 + time), lasting: 100_000).ended
        }
        #expect(sessions.find(ann.id, at: 2000) != nil && sessions.find(first.id, at: 2000) == nil)
        #expect(sessions.all.count == 251 && ended.count == 851)
        // With many users all sessions are in use, and those with the most make room.
        for user in 0..<2000 { _ = sessions.begin("u\(user)", isUser: true, at: Int64(3000 + user), lasting: 100_000) }
        #expect(sessions.all.count == 1000)
    }
}
