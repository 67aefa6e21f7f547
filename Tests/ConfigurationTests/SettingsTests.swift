import Foundation
import JSON
import Linux
import QuickConnect
import TestRig
import Testing

@testable import Configuration

@Suite("The settings")
struct SettingsTests {
    private let folders = StandardFolders(isRoot: true, environment: [:], program: "/nowhere/bin/quickconnectd")

    private func load(
        _ text: String? = nil,
        flags: Settings.Overrides = .init(),
        environment: [String: String] = [:]
    ) throws -> Settings {
        var flags = flags
        if let text {
            let folder = try TestFolder()
            try text.write(toFile: folder("s.yaml"), atomically: true, encoding: .utf8)
            flags[.config] = folder("s.yaml")
            return try Settings.load(flags: flags, environment: environment, folders: folders)
        }
        return try Settings.load(flags: flags, environment: environment, folders: folders)
    }

    @Test func `flags win over the environment, it over the file, it over the defaults`() throws {
        var flags = Settings.Overrides()
        flags[.pcm] = "flag"
        let settings = try load(
            "{pcm: file, gpsd: file, capturePCM: file}",
            flags: flags,
            environment: ["QUICKCONNECT_PCM": "variable", "QUICKCONNECT_GPSD": "variable"]
        )
        #expect(settings.pcm == "flag" && settings.gpsd.host == "variable" && settings.capturePCM == "file")
        #expect(settings.logLevel == "info")
    }

    /// YAML 1.2.2, 10.3.2.
    @Test(
        arguments: [
            ("True", true), ("FALSE", false), ("Null", .null), ("NULL", .null), ("~", .null), ("0x1F", 31),
            ("0o17", 15),
            ("+5", 5), ("-12", -12), (".5", 0.5), ("-.5", -0.5), ("5.", 5.0), ("1e3", 1000.0), ("+1.5E-2", 0.015),
            ("0", 0), ("-0.0", -0.0),
            ("9223372036854775808", 9_223_372_036_854_775_808.0), ("!!str 5", "5"), ("! 5", "5"), ("\"5\"", "5"),
            ("!!int 5", 5), ("!!null ~", .null), ("!!float 1.5", 1.5), ("!!seq [!!bool true]", [true]),
            ("yes", "yes"), ("on", "on"), ("1_000", "1_000"), ("2026-11-28", "2026-11-28"), ("12:30", "12:30"),
            ("1.2.3", "1.2.3"),
            ("0xFG", "0xFG"), ("0x", "0x"), ("-0x1", "-0x1"), ("0o8", "0o8"), (".", "."), ("e5", "e5"),
            ("infinity", "infinity"),
            ("tRue", "tRue"), ("nan", "nan"),
        ] as [(String, JSONValue)]
    )
    func `a plain scalar is what YAML's core schema says`(text: String, value: JSONValue) throws {
        #expect(try YAMLParser.parse(text)?.json == value)
    }

    @Test(arguments: [
        (
            "007",
            "007 is a text to some readers of YAML and a number to others: a text needs quotes, a number no 0 before it"
        ),
        (
            "-01.5",
            "-01.5 is a text to some readers of YAML and a number to others: a text needs quotes, a number no 0 before it"
        ),
        (".inf", ".inf is no value that JSON has; a text needs quotes"),
        ("-.INF", "-.INF is no value that JSON has; a text needs quotes"),
        (".NaN", ".NaN is no value that JSON has; a text needs quotes"),
        ("1e999", "1e999 is no value that JSON has; a text needs quotes"),
    ])
    func `a number that has two meanings, or none in JSON, is a mistake`(text: String, says: String) throws {
        var file = YAMLFile(path: "a.yaml")
        let node = try #require(try YAMLParser.parse("[1, {a: \(text)}]"))
        #expect(file.json(node, "'default'") == nil)
        #expect(file.mistakes.map(\.description) == ["a.yaml:1:9: \(says)"])
    }

    @Test func `such a number is found however deep it is`() throws {
        var file = YAMLFile(path: "a.yaml")
        let deep = String(repeating: "[", count: 14) + ".inf" + String(repeating: "]", count: 14)
        #expect(file.json(try #require(try YAMLParser.parse(deep)), "'default'") == nil)
        let deeper = String(repeating: "[", count: 60) + ".inf" + String(repeating: "]", count: 60)
        #expect(file.json(try #require(try YAMLParser.parse(deeper)), "'default'") == nil)
        #expect(
            file.mistakes.map(\.message).allSatisfy { $0.hasPrefix(".inf is no value") } && file.mistakes.count == 2
        )
    }

    @Test(arguments: [
        ("a: !secret pin", "!secret"), ("- !!binary aGk=", "!!binary"), ("!include x.yaml", "!include"),
        ("!!set {a, b}", "!!set"), ("!!null x", "!!null"), ("!!int x", "!!int"), ("!!int '5'", "!!int"),
        ("!!seq {a: 1}", "!!seq"), ("!!map [a]", "!!map"), ("!!bool 1", "!!bool"), ("!!float .inf", "!!float"),
    ])
    func `a tag that is not followed is a mistake`(text: String, tag: String) throws {
        #expect { try YAMLParser.parse(text) } throws: {
            ($0 as? YAMLMistake)?.message == "the tag '\(tag)' means nothing here; write the value itself"
        }
    }

    @Test func `the motor and the accelerometer are read`() throws {
        let settings = try load(
            "{vibration: {device: /dev/input/event7}, "
                + "motion: {device: accel_3d, matrix: [[0, 1, 0], [-1, 0, 0.5], [0, 0, -1]], replay: /t}}"
        )
        #expect(settings.vibrationDevice == "/dev/input/event7" && settings.motionDevice == "accel_3d")
        #expect(settings.motionMatrix == [[0, 1, 0], [-1, 0, 0.5], [0, 0, -1]] && settings.motionTrack == "/t")
        #expect(try load().motionMatrix == nil && load().vibrationDevice == nil)
        #expect(try load().motionTrack == "/usr/share/quickconnect/tracks/in-the-hand.json")
    }

    @Test(arguments: [
        "1", "[1, 2, 3]", "[[1, 0, 0], [0, 1, 0]]", "[[1, 0, 0], [0, 1, 0], [0, 0]]",
        "[[1, 0, 0], [0, 1, 0], [0, 0, x]]",
        "[[0, 0, 0], [0, 0, 0], [0, 0, 0]]", "[[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]",
        "[[1, 0, 0, 0], [0, 1, 0], [0, 0, 1]]", "[[1, 0, 0], [0, 1, 0], [0, 0, 1e400]]",
    ])
    func `what is no matrix is a mistake`(matrix: String) throws {
        do {
            _ = try load("motion:\n  matrix: \(matrix)")
            Issue.record("taken: \(matrix)")
        } catch let error as ConfigurationMistakes {
            #expect(error.description.contains(":2:11: 'matrix' must be three rows of three numbers"))
        }
    }

    @Test func `an absent default file is fine, an absent named one is a mistake`() throws {
        #expect(try load().pcm == "default")
        #expect(throws: ConfigurationMistakes.self) { try load(environment: ["QUICKCONNECT_CONFIG": "/nonexistent/x"]) }
    }

    @Test func `a relative path is relative to the file's folder`() throws {
        let settings = try load("{media: media}")
        #expect(settings.media.hasPrefix("/") && settings.media.hasSuffix("/media"))
        #expect(settings.simulatedFolder.hasSuffix("/simulated"))
    }

    @Test func `the index of owners stands beside the media folder, or where it was named`() throws {
        var flags = Settings.Overrides()
        #expect(try load().mediaOwners == "/var/lib/quickconnect/media.owners")
        #expect(try load("{mediaOwners: /o}").mediaOwners == "/o")
        flags[.media] = "/elsewhere/sounds/"
        #expect(try load("{}", flags: flags).mediaOwners == "/elsewhere/sounds.owners")
        #expect(try load("{mediaOwners: /o}", flags: flags).mediaOwners == "/o")
    }

    @Test func `a quota is set, or the default`() throws {
        let settings = try load("recording: {quotaBytes: 0, quotaFiles: 7}")
        #expect(settings.quotaBytes == 0 && settings.quotaFiles == 7)
        #expect(try load().quotaBytes == 1 << 30 && load().quotaFiles == 1000)
    }

    @Test(arguments: ["{simulatedFolder: /sim}", "{simulatedFolder: /sim, media: /m}"])
    func `the folder of simulated sound stays where it was named, wherever the media folder goes`(text: String) throws {
        var flags = Settings.Overrides()
        #expect(try load(text).simulatedFolder == "/sim")
        flags[.media] = "/elsewhere/media"
        #expect(try load(text, flags: flags).simulatedFolder == "/sim")
        #expect(try load(text, environment: ["QUICKCONNECT_MEDIA": "/other/media"]).simulatedFolder == "/sim")
        #expect(try load("{}", flags: flags).simulatedFolder == "/elsewhere/simulated")
    }

    @Test(arguments: [
        ("sound: x", ":1:1: unknown key 'sound' in the settings, did you mean 'sounds'?"),
        ("logLevel: loud", ":1:11: unknown log level 'loud'"),
        (
            "recording: {quotaBytes: -1}",
            ":1:25: 'quotaBytes' must be a whole number from 0 to 1125899906842624; got the number -1"
        ),
        ("recording: {quotaFile: 1}", ":1:13: unknown key 'quotaFile' in 'recording', did you mean 'quotaFiles'?"),
        ("limits: {depth: 0}", ":1:17: 'depth' must be a whole number from 1 to 4096; got the number 0"),
        (
            "limits: {handlersPerConnection: 0}",
            ":1:33: 'handlersPerConnection' must be a whole number from 1 to 1000000; got the number 0"
        ),
        (
            "limits: {subscriptionsPerConnection: 1000001}",
            ":1:38: 'subscriptionsPerConnection' must be a whole number from 1 to 1000000; got the number 1000001"
        ),
        (
            "limits:\n  stalledAfter: 30",
            ":2:17: 'stalledAfter' must be a number and a unit (ms, s, m, h, d), such as 30s; got the number 30"
        ),
        (
            "simulate: Off",
            ":1:11: 'simulate' must be true or false; got the string \"Off\": YAML 1.2 has only true and false"
        ),
        ("simulate: maybe", ":1:11: 'simulate' must be true or false; got the string \"maybe\""),
        ("sockets: {}", ":1:10: 'sockets' must be a list of sockets, each a mapping; got a mapping"),
        ("sockets: [{path: '', commands: []}]", ":1:18: 'path' must be a path; got an empty string"),
        (
            "sockets: [{systemd: quickconnectd.socket, commands: []}]",
            ":1:21: 'quickconnectd.socket' is the daemon's own socket, which has all commands"
        ),
        ("sockets: [{path: /a}]", ":1:11: a socket needs 'commands', the list of what it allows"),
        (
            "sockets: [{commands: [ping]}]",
            ":1:11: a socket needs either a 'path', or 'systemd' with the name of one of systemd's"
        ),
        (
            "sockets: [{path: /a, commands: [], mode: 0888}]",
            ":1:42: 'mode' must be permissions such as 0660; got 0888"
        ),
        (
            "sockets: [{path: /a, commands: [], mode: 0o666}]",
            ":1:42: 'mode' must be permissions such as 0660; got the number 0o666"
        ),
        (
            "sockets: [{path: a, commands: []}, {path: ./a, commands: []}]",
            "s.yaml:1:11, too; remove one of the two"
        ),
        (
            "media: ~/media",
            ":1:8: 'media' must be a whole path, such as /home/ann/media: ~ is not expanded; got the string \"~/media\""
        ),
        ("track: \"x/\\0y\"", ":1:8: 'track' must be a path; got the string \"x/\\u0000y\""),
        (
            "socket: /\(String(repeating: "s", count: 107))",
            ":1:9: 'socket' must be a path of at most 107 bytes; /\(String(repeating: "s", count: 107)) has 108"
        ),
        ("gpsd: 2947", ":1:7: '2947' is not HOST:PORT, such as localhost:2947 or [::1]:2947"),
        (
            "sockets: [{systemd: a, commands: [], group: x}]",
            ":1:11: 'mode' and 'group' of one of systemd's sockets stand in its unit"
        ),
        (
            "sockets: [{path: /a, commands: []}, {path: /a, commands: []}]",
            "s.yaml:1:11, too; remove one of the two"
        ),
        (
            "sockets: [{path: /a, commands: [], comand: 1}]",
            ":1:36: unknown key 'comand' in a socket, did you mean 'commands'?"
        ),
        (
            "record: {event: door}",
            ":1:9: 'record' must be a list of events, such as [{event: location, keep: 90d}]; got a mapping"
        ),
        (
            "record: [rang]",
            ":1:10: what is recorded must be a mapping, such as {event: location, keep: 90d}; got the string \"rang\""
        ),
        ("record: [{keep: 90d}]", ":1:10: what is recorded needs an 'event', the name of one"),
        ("record: [{event: a}, {event: a}]", ":1:22: the event 'a' is recorded twice"),
        (
            "record: [{event: a, keep: 90 days}]",
            ":1:27: 'keep' must be a number and a unit (ms, s, m, h, d), such as 30s; got the string \"90 days\""
        ),
        (
            "data: {maximumBytes: 1}",
            ":1:22: 'maximumBytes' must be a whole number from 1048576 to 1125899906842624; got the number 1"
        ),
        (
            "procedures: {sync: ftp://a.example}",
            ":1:20: 'sync' must be a server's address, such as https://reports.example.org"
        ),
        (
            "procedures: {sync: \"https://ann@a.example\"}",
            ":1:20: 'sync' must be a server's address, such as https://reports.example.org"
        ),
        (
            "procedures: {sync: \"http://127.0.0.1.evil.example\"}",
            ":1:13: 'sync' must be an https: address, unless a 'key' proves what comes"
        ),
        (
            "procedures: {names: [../a.js]}",
            ":1:22: '../a.js' is not a procedure's file, such as report.js or lib/dates.js"
        ),
        (
            "procedures: {key: AAAA}",
            ":1:19: 'key' must be the 32 bytes of a public Ed25519 key, in Base64; got the string \"AAAA\""
        ),
        ("procedures: {paralel: 1}", ":1:14: unknown key 'paralel' in 'procedures', did you mean 'parallel'?"),
    ])
    func `a mistake is told with its place`(text: String, mistake: String) throws {
        let error = #expect(throws: ConfigurationMistakes.self) { try load(text) }
        #expect(error?.description.hasSuffix(mistake) ?? false, "\(error?.description ?? "")")
    }

    @Test func `where procedures are fetched from is read`() throws {
        let text = "procedures: {sync: \"http://[::1]:8080/base//\", names: [a.js, lib/b.js]}"
        let settings = try load(text).procedureSettings
        #expect(settings.sync == "http://[::1]:8080/base" && settings.isSyncLocal)
        #expect(settings.names == ["a.js", "lib/b.js"] && settings.key == nil)
        #expect(try load("procedures: {sync: https://a.example}").procedureSettings.isSyncLocal == false)
    }

    @Test func `a final dot of a host's name is none of it`() throws {
        #expect(try load("web: {names: [Kiosk.local., kiosk.lan]}").web.names == ["kiosk.local", "kiosk.lan"])
    }

    @Test func `what is recorded and what procedures may use is read`() throws {
        let text = """
            record: [{event: door, keep: 90d}, {event: walk}]
            data: {maximumBytes: 2097152, keep: 1h}
            procedures: {parallel: 4, time: 2s, memoryBytes: 100000000, sqlTime: 1s, sqlRows: 7}
            """
        let settings = try load(text).procedureSettings
        #expect(settings.record == [.init(event: "door", keepSeconds: 7_776_000), .init(event: "walk")])
        #expect(settings.dataBytes == 2_097_152 && settings.dataKeepSeconds == 3600)
        #expect(settings.parallel == 4 && settings.seconds == 2 && settings.sqlRows == 7 && settings.sqlSeconds == 1)
    }

    @Test func `the commented file names every setting, and parses with all of them uncommented`() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("config/quickconnectd.yaml")
        let lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
        let keys =
            SettingsReader.keys.map(\.name) + SettingsReader.limitKeys.map(\.name)
            + SettingsReader.scriptKeys.map(\.name)
            + SettingsReader.webKeys.map(\.name) + SettingsReader.kioskKeys.map(\.name)
            + SettingsReader.mqttKeys.map(\.name)
        let settings = lines.filter { line in
            keys.contains { line.hasPrefix("# \($0):") || line.hasPrefix("#   \($0):") }
        }
        // Several sections have keys of the same name.
        let named = Set(settings.map { $0.drop { "# ".contains($0) }.prefix { $0 != ":" } })
        #expect(Set(keys.map { $0[...] }).subtracting(named) == [])
        let text = settings.map { String($0.dropFirst(2)) }.joined(separator: "\n")
        let loaded = try load(text)
        #expect(loaded.scriptLimits == .init())
        #expect(
            loaded.web.listen == WebSettings.defaultListener
                && loaded.web.sessionSeconds == WebSettings().sessionSeconds
        )
        #expect(loaded.limits == .init() && loaded.pcm == "default" && !loaded.simulate)
    }

    @Test func `each limit is set by its own key`() throws {
        let limits = try load(
            """
            limits: {lineBytes: 2048, depth: 2, connections: 3, callsPerConnection: 4, handlersPerConnection: 5,
              subscriptionsPerConnection: 6, replyBytes: 2097152, keptBytes: 3145728, stalledAfter: 8s, shutdownAfter: 9s}
            """
        ).limits
        var expected = Limits()
        (expected.lineBytes, expected.depth, expected.connections, expected.callsPerConnection) = (2048, 2, 3, 4)
        (expected.handlersPerConnection, expected.subscriptionsPerConnection) = (5, 6)
        (expected.replyBytes, expected.stalledSeconds, expected.shutdownSeconds) = (2 << 20, 8, 9)
        expected.keptBytes = 3 << 20
        #expect(limits == expected)
    }

    @Test func `a socket has its commands, mode and group, or is one of systemd's`() throws {
        let settings = try load(
            "sockets:\n  - {path: guest, commands: [ping], mode: 0666, group: audio}\n  - {systemd: web, commands: []}"
        )
        let (made, passed) = (settings.sockets[0], settings.sockets[1])
        #expect(made.place.name.hasSuffix("/guest") && made.mode == 0o666 && made.group?.value == "audio")
        #expect(made.rule(SystemAccounts()).commands == ["ping"] && made.location.line == 2)
        #expect(passed.place == .systemd("web") && passed.rule(SystemAccounts()).commands.isEmpty)
    }

    @Test func `a service has the folders that systemd names`() {
        let folders = StandardFolders(
            isRoot: false,
            environment: ["CONFIGURATION_DIRECTORY": "/etc/quickconnect", "STATE_DIRECTORY": "/var/lib/quickconnect"],
            program: "/usr/bin/quickconnectd"
        )
        #expect(folders.config == "/etc/quickconnect/quickconnectd.yaml")
        #expect(folders.media == "/var/lib/quickconnect/media" && folders.scripts == "/etc/quickconnect/scripts")
    }

    @Test func `of several folders of a service the first one counts`() {
        let environment = ["CONFIGURATION_DIRECTORY": "/etc/a:/etc/b", "STATE_DIRECTORY": "/var/lib/a:/var/lib/b"]
        let folders = StandardFolders(isRoot: false, environment: environment, program: "/usr/bin/quickconnectd")
        #expect(folders.config == "/etc/a/quickconnectd.yaml" && folders.state == "/var/lib/a")
    }

    @Test func `each service keeps its state in a folder of its own`() {
        func state(_ service: String, isRoot: Bool) -> String {
            let environment = ["HOME": "/home/a"]
            return StandardFolders(isRoot: isRoot, environment: environment, program: "/bin/x", service: service).state
        }
        #expect(state("quickconnect", isRoot: true) == "/var/lib/quickconnect")
        #expect(state("quickconnect-scripts", isRoot: true) == "/var/lib/quickconnect-scripts")
        #expect(state("quickconnect-scripts", isRoot: false) == "/home/a/.local/share/quickconnect")
    }

    @Test func `without HOME the account's home counts, and without that the settings are refused`() throws {
        func folders(_ environment: [String: String], account: String?, isRoot: Bool = false) -> StandardFolders {
            StandardFolders(isRoot: isRoot, environment: environment, program: "/bin/x", account: account)
        }
        for environment in [[:], ["HOME": ""], ["HOME": "a"]] {
            let found = folders(environment, account: "/home/b")
            #expect(found.config.hasPrefix("/home/b/.config/") && found.problem == nil)
            let none = folders(environment, account: nil)
            let mistakes = Settings.read(flags: .init(), environment: [:], folders: none).mistakes
            #expect(mistakes.map(\.location.file) == ["HOME"])
            #expect(folders(environment, account: nil, isRoot: true).problem == nil)
        }
        #expect(folders(["XDG_CONFIG_HOME": "/c"], account: nil).problem?.contains("set HOME") == true)
        #expect(folders(["XDG_CONFIG_HOME": "/c", "STATE_DIRECTORY": "/s"], account: nil).problem == nil)
    }

    @Test func `an ordinary user has the XDG folders`() {
        let folders = StandardFolders(
            isRoot: false,
            environment: ["HOME": "/home/a", "XDG_RUNTIME_DIR": "/run/user/7", "XDG_DATA_HOME": "/data"],
            program: "/usr/bin/quickconnectd"
        )
        #expect(folders.socket == "/run/user/7/quickconnect.sock")
        #expect(folders.config == "/home/a/.config/quickconnect/quickconnectd.yaml")
        #expect(folders.media == "/data/quickconnect/media")
        #expect(folders.mappings == ["/usr/share/quickconnect/mappings", "/home/a/.config/quickconnect/mappings"])
    }
}

@Suite("Where a server listens")
struct HostAndPortTests {
    @Test(arguments: [
        ("localhost:2947", "localhost", "2947"), ("gps.local", "gps.local", "2947"), ("[::1]:1", "::1", "1"),
        ("127.0.0.1:65535", "127.0.0.1", "65535"),
    ])
    func good(text: String, host: String, port: String) {
        #expect(HostAndPort(text) == HostAndPort(host: host, port: port))
    }

    @Test(arguments: [
        "", ":2947", "2947", "1:30", "host:", "host:0", "host:65536", "host:x", "a b:1", "[::1", "::1", "h/i:2",
    ])
    func bad(text: String) { #expect(HostAndPort(text) == nil) }
}
