import Foundation
import TestRig
import Testing

/// `quickconnect-sync` against a server on loopback that does all that servers should not.
@Suite("Fetching procedures")
struct ProcedureSyncTests {
    private static let a = "function execute(c) { c('a') }"
    private static let b = "function execute(c) { c('b') }"
    private static let old = ["a.js": a, "lib/x.js": "var x = 1"]

    /// A rig whose first set has been fetched.
    private static func fetched() async throws -> SyncRig {
        let rig = try await SyncRig()
        try rig.serve(old)
        let (exit, text) = try await rig.sync()
        #expect(exit == .status(0) && text.contains("2 new; 2 files, version 1"), "\(text)")
        #expect(rig.staged() == old)
        return rig
    }

    @Test func `what the server has is fetched, and only what has changed is asked for again`() async throws {
        let rig = try await Self.fetched()
        #expect(
            try rig.requests().map { $0.prefix { $0 != " " } } == [
                "/uploads/manifest.json", "/uploads/a.js", "/uploads/lib/x.js",
            ]
        )
        #expect(try await rig.sync().text.contains("nothing new"))
        let again = try rig.requests()
        #expect(again.count == 1 && again[0].contains("manifest.json \""), "a mark goes along: \(again)")
        try rig.serve(["a.js": Self.b, "b.js": Self.b], version: 2)
        let dry = try await rig.sync(["--dry-run"])
        #expect(dry.text.contains("new      b.js\nchanged  a.js\nremoved  lib/x.js\n"), "\(dry.text)")
        #expect(rig.staged() == Self.old, "a dry run changes nothing")
        #expect(try await rig.sync().exit == .status(0))
        #expect(rig.staged() == ["a.js": Self.b, "b.js": Self.b])
        let sets = try FileManager.default.contentsOfDirectory(atPath: rig.folder("quickconnect-sync/sets"))
        #expect(sets.count == 2, "no more than the one before stays: \(sets)")
    }

    @Test func `without a manifest the names of the settings are fetched, with the marks that the server gave`()
        async throws
    {
        let rig = try await SyncRig()
        for (name, text) in Self.old { try rig.folder.write(text, to: "uploads/\(name)") }
        #expect(try await rig.sync().text.contains("name no files"))
        try rig.settings("sync: \"\(rig.address)/\", names: [a.js, lib/x.js]")
        #expect(try await rig.sync().exit == .status(0) && rig.staged() == Self.old)
        _ = try rig.requests()
        #expect(try await rig.sync().text.contains("nothing new"))
        #expect(try rig.requests().count { $0.contains(".js \"") } == 2)
        try rig.misbehave(["/uploads/lib/x.js": "status 404"])
        try rig.folder.write(Self.b, to: "uploads/a.js")
        #expect(try await rig.sync().exit == .status(1) && rig.staged() == Self.old)
    }

    @Test(arguments: [
        ("/uploads/b.js", "status 404", "has no b.js"), ("/uploads/b.js", "status 500", "answers 500"),
        ("/uploads/b.js", "status 403", "refused to this device"), ("/uploads/b.js", "status 206", "only 200"),
        ("/uploads/b.js", "half", "partial file"), ("/uploads/b.js", "short", "not what the manifest says"),
        ("/uploads/b.js", "html", "not what the manifest says"), ("/uploads/b.js", "empty", "not text"),
        ("/uploads/b.js", "large", "more than 1048576 bytes"), ("/uploads/b.js", "endless", "more than 1048576 bytes"),
        ("/uploads/b.js", "silent", "Timeout"), ("/uploads/b.js", "status 304", "304"),
        ("/uploads/b.js", "redirect http://localhost:1/uploads/b.js", "another server"),
        ("/uploads/b.js", "redirect file:///etc/passwd", "another server"),
        ("/uploads/b.js", "redirect /uploads/b.js", "more than 5 times"),
        ("/uploads/manifest.json", "html", "the manifest is not"), ("/uploads/manifest.json", "status 503", "503"),
        ("/uploads/manifest.json", "status 404", "no manifest"), ("/uploads/manifest.json", "half", "partial file"),
        ("/uploads/manifest.json", "silent", "Timeout"), ("/uploads/manifest.json", "endless", "more than 1048576"),
    ])
    func `whatever the server does wrong, what was fetched before stays`(path: String, mode: String, says: String)
        async throws
    {
        let rig = try await Self.fetched()
        try rig.serve(["a.js": Self.b, "b.js": Self.b], version: 2)
        try rig.misbehave([path: mode])
        let (exit, text) = try await rig.sync()
        #expect(exit == .status(1) && text.contains(says), "\(text)")
        #expect(rig.staged() == Self.old)
        let status = String(decoding: try rig.folder.data("quickconnect-sync/status.json"), as: UTF8.self)
        #expect(status.contains("\"refused\"") || status.contains("\"unreachable\""), "\(status)")
        // It is fetched as soon as the server is itself again.
        try rig.misbehave([:])
        #expect(try await rig.sync().exit == .status(0) && rig.staged() == ["a.js": Self.b, "b.js": Self.b])
    }

    @Test func `a redirect on the same server is followed`() async throws {
        let rig = try await SyncRig()
        try rig.serve(["a.js": Self.a])
        try rig.folder.write(Self.a, to: "moved.js")
        try rig.misbehave(["/uploads/a.js": "redirect \(rig.address)/moved.js"])
        #expect(try await rig.sync().exit == .status(0) && rig.staged() == ["a.js": Self.a])
    }

    @Test(arguments: [
        "../a.js", "..", ".a.js", "a", "lib/../a.js", "lib/", "lib/.js", "/etc/a.js", "a/b.js", "A b.js", "", "ä.js",
        "a.js/",
        "set.json", "lib/lib/a.js", "a.mjs", "a\u{0}.js",
    ])
    func `a manifest with a name that is none is refused`(name: String) async throws {
        let rig = try await Self.fetched()
        try rig.serve(Self.old, version: 2, hashes: [name: String(repeating: "0", count: 64)])
        let (exit, text) = try await rig.sync()
        #expect(exit == .status(1) && text.contains("not the name of a procedure's file"), "\(text)")
        #expect(rig.staged() == Self.old)
        #expect(
            Set(try rig.folder.names()).isSubset(of: [
                "home", "modes.json", "quickconnect-sync", "requests", "settings.yaml", "state", "uploads",
            ])
        )
    }

    @Test(arguments: [
        "[]", "{}", "null", "{\"version\":-1,\"files\":{}}", "{\"version\":1.5,\"files\":{}}",
        "{\"version\":2,\"files\":[]}",
        "{\"version\":2,\"files\":{\"a.js\":\"00\"}}", "{\"version\":2,\"files\":{\"a.js\":5}}", "",
        String(repeating: "[", count: 100_000),
    ])
    func `a manifest that is none is refused`(text: String) async throws {
        let rig = try await Self.fetched()
        try rig.folder.write(text, to: "uploads/manifest.json")
        #expect(try await rig.sync().exit == .status(1) && rig.staged() == Self.old)
    }

    @Test func `a thousand files are taken, and not one more`() async throws {
        let rig = try await SyncRig()
        var files = Dictionary(
            uniqueKeysWithValues: (0..<1000).map { ("p\($0).js", "function execute() { return \($0) }") }
        )
        try rig.serve(files)
        #expect(try await rig.sync().exit == .status(0) && rig.staged() == files)
        files["one.js"] = Self.a
        try rig.serve(files, version: 2)
        let (exit, text) = try await rig.sync()
        #expect(exit == .status(1) && text.contains("1001 files") && rig.staged().count == 1000)
    }

    @Test func `more than 32 MiB together are refused, and what was fetched before stays`() async throws {
        let rig = try await Self.fetched()
        let megabyte = "function execute() {}\n".padding(toLength: 1 << 20, withPad: " ", startingAt: 0)
        let most = Dictionary(uniqueKeysWithValues: (0..<32).map { ("p\($0).js", megabyte) })
        try rig.serve(most.merging(["one.js": Self.a]) { $1 }, version: 2)
        for words in [[], ["--dry-run"]] {
            let (exit, text) = try await rig.sync(words)
            #expect(exit == .status(1) && text.contains("have more than 32 MiB together"), "\(text)")
        }
        #expect(rig.staged() == Self.old)
        try rig.serve(most, version: 3)
        #expect(try await rig.sync().exit == .status(0) && rig.staged() == most)
    }

    @Test(.needs("openssl"))
    func `a certificate of nobody is refused, and a token goes only where it may`() async throws {
        let made = try TestFolder()
        let words = [
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
            "subjectAltName=IP:127.0.0.1", "-keyout", made("both.pem"), "-out", made("certificate.pem"),
        ]
        #expect(try await ChildProcess.run("openssl", words).exit == .status(0))
        let both = try made.data("both.pem") + made.data("certificate.pem")
        try made.write(both, to: "both.pem")
        let rig = try await SyncRig(certificate: made("both.pem"))
        try rig.serve(Self.old)
        let (exit, text) = try await rig.sync()
        #expect(exit == .status(1) && text.contains("certificate") && rig.staged().isEmpty, "\(text)")
        #expect(try rig.requests().isEmpty)

        try made.write("se cret\n", to: "token")
        let open = try await SyncRig()
        try open.serve(Self.old)
        let credentials = ["CREDENTIALS_DIRECTORY": made.path]
        #expect(try await open.sync(environment: credentials).exit == .status(0))
        #expect(try open.requests().allSatisfy { $0.hasSuffix(" Bearer secret") })
        try open.settings("sync: \"http://192.0.2.1\", key: \(String(repeating: "A", count: 43))=")
        #expect(try await open.sync(environment: credentials).exit == .status(2))
        try open.settings("sync: \"http://192.0.2.1\"")
        #expect(try await open.sync().text.contains("must be an https: address"))
    }

    @Test(.enabled(if: PrivateAuthority.isPossible, "openssl or a mount namespace is missing"))
    func `a certificate of an authority that the device knows is accepted, and another name's is not`() async throws {
        let authority = try await PrivateAuthority()
        let rig = try await SyncRig(certificate: try await authority.certificate(for: "IP:127.0.0.1"))
        try rig.serve(Self.old)
        #expect(rig.address.hasPrefix("https://127.0.0.1:"))
        let stranger = try await rig.sync()
        #expect(stranger.exit == .status(1) && stranger.text.contains("certificate"), "\(stranger.text)")
        let known = try await rig.sync(knowing: authority)
        #expect(known.exit == .status(0) && rig.staged() == Self.old, "\(known.text)")
        #expect(try await rig.sync(knowing: PrivateAuthority()).text.contains("certificate"))
        let other = try await SyncRig(certificate: try await authority.certificate(for: "DNS:elsewhere.example"))
        try other.serve(Self.old)
        let (exit, text) = try await other.sync(knowing: authority)
        #expect(exit == .status(1) && text.contains("certificate") && other.staged().isEmpty, "\(text)")
        #expect(try other.requests().isEmpty)
    }

    @Test func `by hand the token is that of the owner's folder`() async throws {
        let rig = try await SyncRig()
        try rig.serve(Self.old)
        for name in ["owner", "credentials"] {
            try FileManager.default.createDirectory(atPath: rig.folder(name), withIntermediateDirectories: false)
        }
        try rig.folder.write("by hand\n", to: "owner/sync.token")
        let owner = ["CONFIGURATION_DIRECTORY": rig.folder("owner")]
        for words in [["--dry-run"], []] {
            #expect(try await rig.sync(words, environment: owner).exit == .status(0))
            #expect(try rig.requests().allSatisfy { $0.hasSuffix(" Bearer byhand") })
        }
        for text in ["\u{FEFF}token\r\nsecond\r\n", "token\rsecond\r"] {
            try rig.folder.write(text, to: "owner/sync.token")
            #expect(try await rig.sync(environment: owner).exit == .status(0))
            #expect(try rig.requests().allSatisfy { $0.hasSuffix(" Bearer token") })
        }
        for (text, problem) in [("to\0ken\n", "a NUL byte in line 1"), ("tokén\n", "signs of ASCII")] {
            try rig.folder.write(text, to: "owner/sync.token")
            let refused = try await rig.sync(environment: owner)
            #expect(refused.exit == .status(2) && refused.text.contains("owner/sync.token"), "\(refused.text)")
            #expect(refused.text.contains(problem), "\(refused.text)")
        }
        // What systemd passes counts, even where that is nothing.
        try rig.folder.write("\n", to: "credentials/token")
        let both = owner.merging(["CREDENTIALS_DIRECTORY": rig.folder("credentials")]) { $1 }
        #expect(try await rig.sync(environment: both).exit == .status(0))
        #expect(try rig.requests().allSatisfy { !$0.contains("Bearer") })
    }

    @Test(.needs("openssl"))
    func `where a key is set, only its signature counts, and a version never falls`() async throws {
        let rig = try await SyncRig()
        let keys = try await SigningKey()
        try rig.settings("sync: \"\(rig.address)\", key: \"\(keys.text)\"")
        try rig.serve(Self.old, version: 5)
        #expect(try await rig.sync().text.contains("not signed"))
        try rig.folder.write(Data(repeating: 7, count: 64), to: "uploads/manifest.json.sig")
        #expect(try await rig.sync().text.contains("not one of the key"))
        try rig.folder.write("no", to: "uploads/manifest.json.sig")
        #expect(try await rig.sync().text.contains("not one of the key") && rig.staged().isEmpty)
        try await keys.sign(rig)
        #expect(try await rig.sync().exit == .status(0) && rig.staged() == Self.old)
        #expect(try await rig.sync().text.contains("nothing new"))
        // What was signed once is not valid again.
        try rig.serve(["a.js": Self.b], version: 4)
        try await keys.sign(rig)
        #expect(try await rig.sync().text.contains("older than the installed 5") && rig.staged() == Self.old)
        // A signature is of one manifest.
        try rig.serve(["a.js": Self.b], version: 6)
        #expect(try await rig.sync().text.contains("not one of the key") && rig.staged() == Self.old)
        try await keys.sign(rig, asText: true)
        #expect(try await rig.sync().exit == .status(0) && rig.staged() == ["a.js": Self.b])
        try await SigningKey().sign(rig)
        #expect(try await rig.sync().text.contains("not one of the key"))
    }

    @Test func `killed at any moment, the set is the old one or the new one`() async throws { try await Self.kill(8) }

    @Test(.slow) func `killed very often, the set is a whole one`() async throws { try await Self.kill(50) }

    private static func kill(_ rounds: Int) async throws {
        var random = SeededGenerator(seed: 7)
        let rig = try await SyncRig()
        func set(_ number: Int) -> [String: String] {
            Dictionary(uniqueKeysWithValues: (0..<12).map { ("p\($0).js", "function execute() { return \(number) }") })
        }
        var (last, counts) = (0, [0, 0])
        try rig.serve(set(0), version: 1)
        let began = ContinuousClock.now
        #expect(try await rig.sync().exit == .status(0))
        let time = ContinuousClock.now - began
        for number in 1...rounds {
            try rig.serve(set(number), version: number + 1)
            let child = try rig.start()
            // Sleeps into the middle of it.
            try await Task.sleep(for: time * Double(random.below(120)) / 100)
            child.send(SIGKILL)
            try await child.wait()
            let staged = rig.staged()
            #expect(staged == set(last) || staged == set(number), "\(number)")
            counts[staged == set(last) ? 0 : 1] += 1
            if staged == set(number) { last = number }
        }
        #expect(try await rig.sync().exit == .status(0) && rig.staged() == set(rounds), "\(counts)")
        // One that was killed behind the change of the link leaves an old set, which goes with the next change.
        try rig.serve(set(rounds + 1), version: rounds + 2)
        #expect(try await rig.sync().exit == .status(0) && rig.staged() == set(rounds + 1))
        let names = try FileManager.default.contentsOfDirectory(atPath: rig.folder("quickconnect-sync/sets"))
        #expect(names.count <= 2, "nothing is left of what was killed: \(names)")
    }

    @Test func `two at once, and a server that comes back, end with one whole set`() async throws {
        let rig = try await SyncRig()
        try rig.serve(Self.old)
        let both = try [rig.start(), rig.start()]
        for child in both { #expect(try await child.wait() == .status(0)) }
        #expect(rig.staged() == Self.old)
        try rig.serve(["a.js": Self.b], version: 2)
        try rig.misbehave(["*": "status 503"])
        let patient = try rig.start("--retries", "3")
        try await eventually("it waits") {
            String(decoding: patient.standardOutput, as: UTF8.self).contains("asking again")
        }
        try rig.misbehave([:])
        #expect(try await patient.wait() == .status(0) && rig.staged() == ["a.js": Self.b])
    }
}

/// A pair of keys of openssl, which signs for a server.
struct SigningKey {
    private let folder: TestFolder
    /// The public one, as the settings have it.
    let text: String

    init() async throws {
        folder = try TestFolder()
        let made = try await ChildProcess.run("openssl", ["genpkey", "-algorithm", "ed25519", "-out", folder("key")])
        #expect(made.exit == .status(0))
        let words = ["pkey", "-in", folder("key"), "-pubout", "-outform", "DER", "-out", folder("public")]
        #expect(try await ChildProcess.run("openssl", words).exit == .status(0))
        text = try folder.data("public").suffix(32).base64EncodedString()
    }

    /// Signs what the server has as its manifest.
    func sign(_ rig: SyncRig, asText: Bool = false) async throws {
        let words = [
            "pkeyutl", "-sign", "-rawin", "-inkey", folder("key"), "-in", rig.folder("uploads/manifest.json"), "-out",
            folder("signature"),
        ]
        #expect(try await ChildProcess.run("openssl", words).exit == .status(0))
        let signature = try folder.data("signature")
        try rig.folder.write(
            asText ? Data("\(signature.base64EncodedString())\n".utf8) : signature,
            to: "uploads/manifest.json.sig"
        )
    }
}
