import Foundation
import Glibc
import Linux
import QuickConnect
import TestRig
import Testing

@testable import Configuration

@Suite("The files of settings.d")
struct SettingsFilesTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Writes files, and reads the settings as the daemon does whose configuration folder they are in.
    /// - Parameter isNamed: whether the main file is named, as by `--config`.
    private func load(_ files: [String: String], isNamed: Bool = false) throws -> Settings {
        for (name, text) in files {
            let parent = (folder(name) as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            try text.write(toFile: folder(name), atomically: true, encoding: .utf8)
        }
        var folders = StandardFolders(isRoot: true, environment: [:], program: "/nowhere/bin/quickconnectd")
        folders.config = folder("main.yaml")
        var flags = Settings.Overrides()
        if isNamed { flags[.config] = folders.config }
        return try Settings.load(flags: flags, environment: [:], folders: folders)
    }

    private func mistakes(_ files: [String: String], isNamed: Bool = false) throws -> [String] {
        do {
            _ = try load(files, isNamed: isNamed)
            return []
        } catch let error as ConfigurationMistakes {
            return error.mistakes.map { $0.description.replacingOccurrences(of: folder(""), with: "") }
        }
    }

    @Test(arguments: [true, false]) func `are read with the main file`(isNamed: Bool) throws {
        let settings = try load(
            [
                "main.yaml": "{pcm: one, web: {connections: 7}}",
                "settings.d/a.yaml": "{capturePCM: two, web: {session: 5m}}",
                "settings.d/b.yaml": "kiosk: {zoom: 2}",
            ],
            isNamed: isNamed
        )
        #expect(settings.pcm == "one" && settings.capturePCM == "two" && settings.kiosk.zoom == 2)
        #expect(settings.web.connections == 7 && settings.web.sessionSeconds == 300)
    }

    @Test func `need no main file, unless it is named`() throws {
        #expect(try load(["settings.d/a.yaml": "pcm: one"]).pcm == "one")
        let found = try mistakes(["settings.d/a.yaml": "pcm: one"], isNamed: true)
        #expect(found.count == 1 && found.first?.contains("main.yaml:1:1: cannot be opened") == true, "\(found)")
    }

    @Test func `are the settings of a user who has no main file`() throws {
        #expect(!Settings.exist(at: folder("main.yaml")))
        _ = try load(["settings.d/.hidden.yaml": "pcm: one"])
        #expect(!Settings.exist(at: folder("main.yaml")))
        _ = try load(["settings.d/a.yaml": "pcm: one"])
        #expect(Settings.exist(at: folder("main.yaml")))
    }

    @Test(arguments: [
        ("pcm: a", "pcm: b", "1:1: 'pcm' is set in main.yaml:1:1, too; remove one of the two"),
        ("web: {session: 1m}", "web:\n  session: 2m", "2:3: 'web.session' is set in main.yaml:1:7, too; remove one"),
        (
            "sockets: [{path: /s, commands: []}]", "sockets: [{path: /t, commands: []}, {path: /s, commands: []}]",
            "1:37: the socket /s is set in main.yaml:1:11, too; remove one of the two"
        ),
        ("handlerCommands: {users: [root]}", "handlerCommands: {groups: [root]}", "1:1: 'handlerCommands' is set in "),
        ("procedures: {parallel: 2}", "procedures: {sqlRows: 9}", "1:1: 'procedures' is set in main.yaml:1:1"),
    ])
    func `set nothing that another file sets`(main: String, other: String, mistake: String) throws {
        let found = try mistakes(["main.yaml": main, "settings.d/a.yaml": other]).map {
            $0.replacingOccurrences(of: "/main.yaml", with: "main.yaml")
        }
        #expect(found.count == 1 && found.first?.contains("settings.d/a.yaml:\(mistake)") == true, "\(found)")
    }

    @Test func `add their sockets to those of others`() throws {
        let settings = try load([
            "main.yaml": "sockets: [{path: /s, commands: [ping]}]",
            "settings.d/a.yaml": "sockets: [{path: /t, commands: [hello]}]",
        ])
        #expect(settings.sockets.map(\.place) == [.path("/s"), .path("/t")])
    }

    @Test func `set nothing that one of them sets`() throws {
        let found = try mistakes(["settings.d/b.yaml": "audit: false", "settings.d/a.yaml": "audit: true"])
        #expect(found.count == 1 && found.first?.contains("b.yaml:1:1: 'audit' is set in ") == true, "\(found)")
    }

    @Test func `may repeat what is empty`() throws {
        let other = "{pcm: b, web: {session: 1m}}"
        #expect(try load(["main.yaml": "{pcm: , web: {session: }}", "settings.d/a.yaml": other]).pcm == "b")
    }

    @Test func `quotes are no change of a setting`() throws {
        let old = try load(["main.yaml": "{web: {listen: 127.0.0.1:8467, names: [a]}, scripts: {folder: /x}, pcm: x}"])
        let quoted = "{web: {\"listen\": '127.0.0.1:8467', names: ['a']}, scripts: {folder: \"/x\"}, pcm: \"x\"}"
        #expect(try old.changes(in: load(["main.yaml": quoted])) == [])
        let other = "{web: {listen: '127.0.0.1:8468', names: [a, b]}, scripts: {folder: /x}, pcm: X}"
        #expect(try old.changes(in: load(["main.yaml": other])) == ["pcm", "web.listen", "web.names"])
    }

    @Test func `report mistakes of all files`() throws {
        let found = try mistakes(["main.yaml": "sound: x", "settings.d/a.yaml": "simulate: maybe"])
        #expect(found.count == 2 && found.first?.contains("main.yaml:1:1: unknown key 'sound'") == true, "\(found)")
        #expect(found.last?.contains("settings.d/a.yaml:1:11: 'simulate' must be") == true, "\(found)")
    }

    @Test func `other files are no settings, and a wrong end is told`() throws {
        let others = ["settings.d/.a.yaml": "x: 1", "settings.d/a.yaml~": "x: 1", "settings.d/README": "x"]
        #expect(try load(others).pcm == "default")
        let found = try mistakes(["settings.d/home.yml": "pcm: b"])
        let words = "settings.d/home.yml:1:1: settings end in .yaml, so rename this file to home.yaml"
        #expect(found.count == 1 && found.first?.hasSuffix(words) == true, "\(found)")
    }

    @Test(arguments: ["main.yaml", "settings.d"])
    func `a link to nowhere is a mistake, not an absent file or folder`(name: String) throws {
        symlink("/nonexistent/x", folder(name))
        let found = try mistakes([:])
        #expect(found.count == 1 && found.first?.contains("\(name):1:1: ") == true, "\(found)")
    }

    @Test func `a folder that cannot be read is a mistake, not an absent one`() throws {
        let found = try mistakes(["settings.d": "no folder"])
        let words = "settings.d:1:1: the folder of settings cannot be read"
        #expect(found.count == 1 && found.first?.contains(words) == true, "\(found)")
    }
}
