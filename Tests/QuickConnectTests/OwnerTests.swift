import JSON
import QuickConnect
import Testing

@Suite("Owners and rights")
struct OwnerTests {
    private let ann = Caller(.peer(uid: 1000, pid: 7, groups: []))

    @Test func `an owner is a text that is read again`() {
        #expect(ann.owner.text == "uid 1000" && Caller.daemon.owner == .root)
        let gateways = [Owner(gateway: "web", user: "ann"), Owner(gateway: "mqtt", user: "a:b")]
        for owner in [Owner(uid: 0), Owner(uid: .max)] + gateways {
            #expect(Owner(text: owner.text) == owner)
        }
        let web = Owner(text: "web:a:b")
        #expect(web?.uid == nil && web?.gateway?.name == "web" && web?.gateway?.user == "a:b")
        #expect(web?.json(account: nil) == ["gateway": "web", "user": "a:b"])
        #expect(ann.owner.json(account: "ann") == ["uid": 1000, "user": "ann"])
        #expect(ann.owner.json(account: nil) == ["uid": 1000, "user": nil])
    }

    @Test(arguments: ["", "uid", "uid ", "uid -1", "uid 01", "uid +1", "uid 4294967296", ":ann", "root", "1000"])
    func `another text is none`(text: String) { #expect(Owner(text: text) == nil) }

    /// An e with an acute accent, as one code point and as two.
    @Test func `users of gateways are the same only byte for byte`() {
        #expect(Owner(gateway: "web", user: "n\u{e9}") != Owner(gateway: "web", user: "ne\u{301}"))
    }

    @Test func `a file's owner, root, the daemon's user and whom verbs names may change it, and nobody else`() {
        let permissions = Permissions(ownUID: 990)
        func rights(_ caller: Caller, isGranted: Bool = false) -> FileRights {
            FileRights(caller, isPrivileged: permissions.isPrivileged(caller), isGranted: isGranted)
        }
        let root = Caller(.peer(uid: 0, pid: 7, groups: []))
        let own = Caller(.peer(uid: 990, pid: 7, groups: []))
        let other = Caller(.peer(uid: 1001, pid: 7, groups: [1000]))
        for caller in [ann, root, own, .daemon] { #expect(rights(caller).mayChange(fileOf: ann.owner)) }
        #expect(!rights(other).mayChange(fileOf: ann.owner))
        #expect(rights(other, isGranted: true).mayChange(fileOf: ann.owner))
        #expect(!rights(ann).mayChange(fileOf: .root))
        // A user of a gateway is no account, whatever its name.
        let web = Caller(.gateway(name: "web", user: "root"))
        #expect(!rights(web).mayChange(fileOf: .root) && rights(web).mayChange(fileOf: web.owner))
        #expect(!rights(web).mayChange(fileOf: Owner(gateway: "mqtt", user: "root")))
    }
}
