import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// `quickconnect backup` and `restore`, on folders that two devices have.
@Suite("A backup", .serialized)
struct BackupTests {
    /// A device's folders of settings and state, on which programs are run.
    private struct Device {
        let folder: TestFolder
        var configuration: String { folder("etc") }
        var state: String { folder("var/quickconnect") }
        var environment: [String: String] {
            [
                "PATH": "/usr/bin:/bin", "HOME": folder.path, "CONFIGURATION_DIRECTORY": configuration,
                "STATE_DIRECTORY": state, "QUICKCONNECT_SOCKET": folder("socket"),
            ]
        }

        init() throws {
            folder = try TestFolder()
            let folders = [
                "etc/mappings", "etc/scripts", "var/quickconnect/actions", "var/quickconnect-web",
                "var/quickconnect-mqtt",
            ]
            for name in folders + ["var/quickconnect-scripts/macros", "var/quickconnect-data/procedures"] {
                try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
            }
        }

        /// Fills it with something of each kind.
        func fill(_ word: String) throws {
            try folder.write("logLevel: debug    # \(word)\n", to: "etc/quickconnectd.yaml")
            try folder.write("\(word): {value: {type: string, default: a, keep: true}}\n", to: "etc/mappings/own.yaml")
            try folder.write("console.log('\(word)')\n", to: "etc/scripts/\(word).js")
            try folder.write("{\"version\":1,\"values\":{\"\(word)\":\"b\"}}\n", to: "var/quickconnect/values.json")
            try folder.write("() => '\(word)'\n", to: "var/quickconnect-scripts/macros/\(word).js")
            try folder.write("{\"users\":\"\(word)\"}\n", to: "var/quickconnect-web/users.json")
            try folder.write("SQLite format 3\0\(word)", to: "var/quickconnect-data/data.db")
            try folder.write("{\"allowed\":[],\"\(word)\":1}\n", to: "var/quickconnect/actions/allowed.json")
            // Not in a backup: which calls came of late, and what Home Assistant was told.
            try folder.write(word, to: "var/quickconnect-mqtt/calls")
        }

        /// Each file below both folders, with its text.
        func files() throws -> [String: String] {
            var files: [String: String] = [:]
            for case let path as String in FileManager.default.enumerator(atPath: folder.path) ?? .init() {
                guard path.hasPrefix("etc/") || path.hasPrefix("var/"), !path.hasSuffix(".lock") else { continue }
                guard let data = FileManager.default.contents(atPath: folder(path)) else { continue }
                files[path] = String(decoding: data, as: UTF8.self)
            }
            return files
        }

        func run(_ arguments: String...) async throws -> (exit: ChildProcess.Exit, output: String, errors: String) {
            let child = try ChildProcess(Products.path("quickconnect"), arguments, environment: environment)
            let exit = try await child.wait(within: .seconds(60))
            let texts = [child.standardOutput, child.standardError].map { String(decoding: $0, as: UTF8.self) }
            return (exit, texts[0], texts[1])
        }

        func daemon() async throws -> ChildProcess {
            let flags = ["--simulate", "--sounds", Products.root + "/sounds", "--socket", folder("socket")]
            let process = try ChildProcess(Products.path("quickconnectd"), flags, environment: environment)
            try await eventually("the daemon listens") { (try? SocketClient(path: folder("socket"))) != nil }
            return process
        }
    }

    /// The device that is saved; its folders are there for as long as this is.
    private let source: Device

    init() throws { source = try Device() }

    private func backup() async throws -> (device: Device, file: String) {
        let device = source
        try device.fill("first")
        let file = device.folder("device.tar.gz")
        let made = try await device.run("backup", file)
        #expect(made.exit == .status(0), "\(made.errors)")
        #expect(made.output == "\(file): configuration, values, macros, data, procedures, actions, users\n")
        return (device, file)
    }

    @Test func `goes onto another device, and replaces all that it holds`() async throws {
        let (first, file) = try await backup()
        let second = try Device()
        try second.fill("second")
        try second.folder.write("kept", to: "var/quickconnect/media.owners")
        try second.folder.write("old", to: "var/quickconnect-data/data.db-wal")
        try second.folder.write("{}", to: "var/quickconnect-web/sessions.json")
        let restored = try await second.run("restore", file)
        #expect(restored.exit == .status(0), "\(restored.errors)")
        var expected = try first.files()
        expected["var/quickconnect/media.owners"] = "kept"
        expected["var/quickconnect-web/sessions.json"] = "{}"
        expected["var/quickconnect-mqtt/calls"] = "second"
        #expect(try second.files() == expected)
    }

    @Test func `goes onto a device that has nothing yet, and its daemon has the value`() async throws {
        let (_, file) = try await backup()
        let second = try Device()
        try FileManager.default.removeItem(atPath: second.folder("var"))
        try FileManager.default.removeItem(atPath: second.folder("etc"))
        #expect(try await second.run("restore", file).exit == .status(0))
        let daemon = try await second.daemon()
        defer { withExtendedLifetime(daemon) {} }
        let read = try await second.run("call", "first")
        #expect(read.output == "\"b\"\n", "\(read.errors)")
    }

    @Test func `is for its maker's eyes only`() async throws {
        let (_, file) = try await backup()
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `is refused where a daemon runs that would write over it`() async throws {
        let (first, file) = try await backup()
        let daemon = try await first.daemon()
        defer { withExtendedLifetime(daemon) {} }
        let before = try first.files()
        let refused = try await first.run("restore", file)
        #expect(refused.exit == .status(1) && refused.errors.contains("stop it first"), "\(refused.errors)")
        #expect(try first.files() == before)
    }

    /// A backup with another manifest or other files, made with tar.
    private func forged(_ change: (TestFolder) throws -> Void) async throws -> (TestFolder, String) {
        let (_, file) = try await backup()
        let folder = try TestFolder()
        #expect(try await ChildProcess.run("tar", ["-xzf", file, "-C", folder.path]).exit == .status(0))
        try change(folder)
        let forged = folder("forged.tar.gz")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "manifest.json" }
        let made = try await ChildProcess.run(
            "tar",
            ["-czf", forged, "-C", folder.path, "manifest.json"] + names.filter { !$0.hasPrefix("forged") }
        )
        #expect(made.exit == .status(0))
        return (folder, forged)
    }

    private func expectRefused(_ file: String, _ words: String) async throws {
        let device = try Device()
        try device.fill("second")
        let before = try device.files()
        let refused = try await device.run("restore", file)
        #expect(refused.exit == .status(1))
        #expect(refused.errors.contains("nothing was changed") && refused.errors.contains(words), "\(refused.errors)")
        #expect(try device.files() == before)
    }

    @Test func `of a newer version is refused`() async throws {
        for manifest in [
            "{\"format\":2,\"version\":\"\(ProjectVersion.text)\",\"parts\":[]}",
            "{\"format\":1,\"version\":\"99.0.0\",\"parts\":[]}",
        ] {
            let (folder, file) = try await forged { try $0.write(manifest, to: "manifest.json") }
            try await expectRefused(file, "upgrade")
            withExtendedLifetime(folder) {}
        }
    }

    @Test func `that is cut off, changed or no archive is refused`() async throws {
        let (device, file) = try await backup()
        var data = try #require(FileManager.default.contents(atPath: file))
        try data.prefix(data.count - 20).write(to: URL(fileURLWithPath: device.folder("cut")))
        try await expectRefused(device.folder("cut"), "cannot be read")
        data[data.count / 2] ^= 0xff
        try data.write(to: URL(fileURLWithPath: device.folder("changed")))
        try await expectRefused(device.folder("changed"), "cannot be read")
        try device.folder.write("hello", to: "text")
        try await expectRefused(device.folder("text"), "cannot be read")
        try await expectRefused(device.folder("absent"), "cannot be read")
    }

    @Test func `whose settings the daemon would refuse is refused, with the mistake`() async throws {
        let (folder, file) = try await forged { try $0.write("soundz: /x\n", to: "configuration/quickconnectd.yaml") }
        try await expectRefused(file, "unknown key 'soundz'")
        withExtendedLifetime(folder) {}
    }

    @Test func `with files that its manifest does not name is refused`() async throws {
        let (folder, file) = try await forged { try $0.write("x", to: "extra") }
        try await expectRefused(file, "'extra'")
        withExtendedLifetime(folder) {}
    }

    @Test func `whose data are no database is refused`() async throws {
        let (folder, file) = try await forged { try $0.write("hello", to: "data") }
        try await expectRefused(file, "not an SQLite database")
        withExtendedLifetime(folder) {}
    }

    @Test func `that lacks a part is refused`() async throws {
        let (folder, file) = try await forged { try FileManager.default.removeItem(atPath: $0("values")) }
        try await expectRefused(file, "'values' is missing")
        withExtendedLifetime(folder) {}
    }

    /// As a user whom a folder's permissions stop: root would be stopped by none.
    @Test(
        .enabled(if: geteuid() != 0 || access("/usr/bin/setpriv", X_OK) == 0, "setpriv (util-linux) is not installed"),
        .enabled(if: Products.areForOthers, Products.othersNote)
    )
    func `that fails halfway takes back what it has replaced`() async throws {
        let (_, complete) = try await backup()
        let work = try TestFolder()
        #expect(try await ChildProcess.run("tar", ["-xzf", complete, "-C", work.path]).exit == .status(0))
        try work.remove("users")
        let manifest = #"{"format":1,"version":"\#(ProjectVersion.text)","parts":["configuration","values","data"]}"#
        try work.write(manifest, to: "manifest.json")
        let device = try Device()
        try device.fill("second")
        let file = device.folder("partial.tar.gz")
        let parts = ["manifest.json", "configuration", "values", "data"]
        #expect(try await ChildProcess.run("tar", ["-czf", file, "-C", work.path] + parts).exit == .status(0))
        // The users are the last part: not in the file, so they are to go, which their folder does not allow.
        chmod(device.folder("var/quickconnect-web"), 0o555)
        if geteuid() == 0 {
            #expect(try await ChildProcess.run("chown", ["-R", "65534:65534", device.folder.path]).exit == .status(0))
        }
        func run(_ arguments: String...) async throws -> (exit: ChildProcess.Exit, errors: String) {
            let user = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            let words = (geteuid() == 0 ? user : []) + [Products.path("quickconnect"), "restore"] + arguments
            let child = try ChildProcess(words[0], Array(words.dropFirst()), environment: device.environment)
            let exit = try await child.wait(within: .seconds(60))
            return (exit, String(decoding: child.standardError, as: UTF8.self))
        }
        let before = try device.files()
        let (exit, errors) = try await run(file)
        #expect(exit == .status(1) && errors.contains("users.json cannot be replaced"), "\(errors)")
        #expect(errors.contains("nothing was changed"))
        #expect(try device.files() == before)
        // What cannot be put back is left for the next attempt.
        let users = device.folder("var/quickconnect-web/users.json")
        chmod(device.folder("var/quickconnect-web"), 0o755)
        try device.folder.write(#"[{"path":"\#(users)","wasThere":true}]"#, to: "var/quickconnect.restoring")
        rename(users, users + ".before-restore")
        chmod(device.folder("var/quickconnect-web"), 0o555)
        let stuck = try await run("--undo")
        #expect(stuck.exit == .status(1) && stuck.errors.contains("cannot be put back"), "\(stuck.errors)")
        chmod(device.folder("var/quickconnect-web"), 0o755)
        #expect(try await run("--undo").exit == .status(0))
        #expect(try device.files() == before)
    }

    /// The programs of a device on which systemd runs, of which a script is one that only writes down what it is told.
    private struct System {
        let device: Device
        let bin: String

        init() throws {
            device = try Device()
            bin = device.folder("bin")
            try Products.copy("quickconnect", to: device.folder)
            let places = """
                {"configuration":"\(device.configuration)","values":"\(device.state)/values.json",\
                "state":"\(device.state)","actions":"\(device.state)/actions","elsewhere":[]}
                """
            try script("quickconnectd", "[ \"$1\" != --folders ] || printf '%s\\n' '\(places)'")
            try script(
                "systemctl",
                """
                printf '%s\\n' "$*" >>"\(device.folder("told"))"
                [ "$1" != list-units ] || printf '%s loaded active running x\\n' quickconnectd.service quickconnectd.socket
                [ "$1" != stop ] || cp "\(device.folder("etc/quickconnectd.yaml"))" "\(device.folder("at-stop"))"
                """
            )
        }

        private func script(_ name: String, _ text: String) throws {
            try device.folder.write("#!/bin/sh\n\(text)\n", to: "bin/\(name)")
            chmod("\(bin)/\(name)", 0o755)
        }

        func restore(_ file: String) async throws -> (exit: ChildProcess.Exit, errors: String) {
            let environment = [
                "PATH": "\(bin):/usr/bin:/bin", "HOME": device.folder.path,
                "QUICKCONNECT_SOCKET": device.folder("socket"),
            ]
            let child = try ChildProcess("\(bin)/quickconnect", ["restore", file], environment: environment)
            let exit = try await child.wait(within: .seconds(60))
            return (exit, String(decoding: child.standardError, as: UTF8.self))
        }

        /// What systemctl was told, a call each.
        var told: [String] {
            let text = FileManager.default.contents(atPath: device.folder("told")) ?? Data()
            return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root restores the files of services"))
    func `stops the services that run before it changes anything, and starts them again`() async throws {
        let (_, file) = try await backup()
        let system = try System()
        try system.device.fill("second")
        let restored = try await system.restore(file)
        #expect(restored.exit == .status(0), "\(restored.errors)")
        let units = "quickconnectd.service quickconnectd.socket"
        #expect(system.told.map { String($0.prefix { $0 != " " }) } == ["list-units", "stop", "start"])
        #expect(system.told.dropFirst() == ["stop \(units)", "start \(units)"])
        let (before, after) = try (text(system, "at-stop"), text(system, "etc/quickconnectd.yaml"))
        #expect(before.contains("second") && after.contains("first"))
    }

    @Test(.enabled(if: geteuid() == 0, "only root restores the files of services"))
    func `starts the services again where a part cannot be put in place`() async throws {
        let (_, file) = try await backup()
        let system = try System()
        try system.device.fill("second")
        // Where the folder of a part should be, a file is.
        try FileManager.default.removeItem(atPath: system.device.folder("var/quickconnect-scripts"))
        try system.device.folder.write("x", to: "var/quickconnect-scripts")
        let before = try system.device.files()
        let refused = try await system.restore(file)
        #expect(refused.exit == .status(1) && refused.errors.contains("nothing was changed"), "\(refused.errors)")
        #expect(system.told.map { String($0.prefix { $0 != " " }) } == ["list-units", "stop", "start"])
        #expect(try system.device.files() == before)
    }

    private func text(_ system: System, _ name: String) throws -> String {
        try String(contentsOfFile: system.device.folder(name), encoding: .utf8)
    }

    /// Answers each call of the command `data` with a path, as who takes the service's place would.
    private func answer(_ client: SocketClient, _ path: String) async throws {
        while let message = try await client.nextMessage() {
            guard let id = message["callbackId"] else { continue }
            let answer: JSONObject = ["responseId": id, "responseData": ["path": .string(path)]]
            return client.send(JSONValue.object(answer).text)
        }
    }

    @Test func `reads no file but a copy in the service's own folder, whoever answers for the service`() async throws {
        let device = source
        try device.fill("first")
        let (data, backups) = (device.folder("var/quickconnect-data"), device.folder("var/quickconnect-data/backups"))
        try FileManager.default.createDirectory(atPath: backups, withIntermediateDirectories: true)
        chmod(backups, 0o750)
        try device.folder.write("secret", to: "secret.db")
        try device.folder.write("copy", to: "var/quickconnect-data/backups/good.db")
        try device.folder.write("copy", to: "var/quickconnect-data/backups/open.txt")
        for (name, target) in [("link.db", "secret.db"), ("folder.db", "etc")] {
            symlink(device.folder(target), "\(backups)/\(name)")
        }
        mkfifo("\(backups)/pipe.db", 0o600)
        link("\(backups)/good.db", "\(backups)/twice.db")
        let daemon = try await device.daemon()
        defer { withExtendedLifetime(daemon) {} }
        let impostor = try SocketClient(path: device.folder("socket"))
        #expect(try await impostor.value("registerHandler", ["data"]) == .null)
        func backUp(_ path: String) async throws -> (exit: ChildProcess.Exit, errors: String) {
            async let answered: Void = answer(impostor, path)
            let made = try await device.run("backup", device.folder("x.tar.gz"))
            try await answered
            return (made.exit, made.errors)
        }
        let wrong = [
            "/etc/passwd", device.folder("secret.db"), "\(data)/data.db", "\(backups)/../data.db", "\(backups)/link.db",
            "\(backups)/folder.db", "\(backups)/pipe.db", "\(backups)/none.db", "\(backups)/open.txt",
            "\(backups)/twice.db", "\(backups)//good.db", "\(backups)/.good.db", "", "backups/good.db",
        ]
        for path in wrong {
            let (exit, errors) = try await backUp(path)
            #expect(exit == .status(1) && errors.contains("the copy of the data is not used"), "\(path): \(errors)")
        }
        #expect(!device.folder.exists("x.tar.gz") && !device.folder.exists("x.tar.gz.data"))
        unlink("\(backups)/twice.db")
        if geteuid() == 0 {
            chown("\(backups)/good.db", 65_534, 65_534)
            #expect(try await backUp("\(backups)/good.db").errors.contains("belongs to user 65534"))
            chown("\(backups)/good.db", 0, 0)
        }
        chmod(backups, 0o777)
        #expect(try await backUp("\(backups)/good.db").errors.contains("can be changed by others"))
        chmod(backups, 0o750)
        #expect(try await backUp("\(backups)/good.db").exit == .status(0))
        let held = try await ChildProcess.run("tar", ["-xzOf", device.folder("x.tar.gz"), "data"])
        #expect(held.output == "copy")
    }

    @Test func `that is cut off at any moment is taken back as a whole, or done`() async throws {
        let (first, file) = try await backup()
        let device = try Device()
        try device.fill("second")
        let before = try device.files()
        var after = try first.files()
        after["var/quickconnect-mqtt/calls"] = "second"
        var ends: [Bool] = []
        for milliseconds in stride(from: 10, through: 600, by: 5) {
            let child = try ChildProcess(
                Products.path("quickconnect"),
                ["restore", file],
                environment: device.environment
            )
            // The test sleeps until somebody pulls the plug.
            try await Task.sleep(for: .milliseconds(milliseconds))
            child.send(SIGKILL)
            _ = try await child.wait()
            let undone = try await device.run("restore", "--undo")
            #expect(undone.exit == .status(0), "\(undone.errors)")
            // Copies that it has not yet begun to put in place wait for the next one; tar and cp may live longer than itself.
            let now = try device.files().filter { !$0.key.contains("before-restore") && !$0.key.contains(".restore") }
            #expect(now == before || now == after, "after \(milliseconds) ms: \(now.keys.sorted())")
            ends.append(now == after)
            if now == after { break }
        }
        #expect(ends.first == false)
        #expect(try await device.run("restore", "--undo").output == "No restore was cut off.\n")
    }

    @Test func `whose journal is there is taken back before the next one, and by itself`() async throws {
        let device = try Device()
        try device.fill("second")
        let before = try device.files()
        // As a power cut leaves it between two of its steps.
        let (users, macros, actions) = (
            device.folder("var/quickconnect-web/users.json"), device.folder("var/quickconnect-scripts/macros"),
            device.folder("var/quickconnect/new")
        )
        let parts = [users, macros, actions].map { #"{"path":"\#($0)","wasThere":\#($0 != actions)}"# }
        let journal = "[\(parts.joined(separator: ","))]"
        try device.folder.write(journal, to: "var/quickconnect.restoring")
        // A check changes nothing.
        let checked = try await device.run("restore", "--check", try await backup().file)
        #expect(checked.exit == .status(0) && device.folder.exists("var/quickconnect.restoring"), "\(checked.errors)")
        // What is unpacked goes with it.
        let staging = device.folder("var/quickconnect.restore")
        try FileManager.default.createDirectory(atPath: staging, withIntermediateDirectories: true)
        try device.folder.write("x", to: "var/quickconnect.restore/users")
        try device.folder.write("{}", to: "var/quickconnect-web/users.json.restored")
        rename(users, users + ".before-restore")
        rename(users + ".restored", users)
        rename(macros, macros + ".before-restore")
        try device.folder.write("x", to: "var/quickconnect/new")
        let undone = try await device.run("restore", "--undo")
        #expect(undone.exit == .status(0) && undone.errors.contains("has been taken back"), "\(undone.errors)")
        #expect(try device.files() == before)
        // A power cut before the journal is gone has it taken back again.
        try device.folder.write(journal, to: "var/quickconnect.restoring")
        #expect(try await device.run("restore", "--undo").exit == .status(0))
        #expect(try device.files() == before)
        try device.folder.write("rubbish", to: "var/quickconnect.restoring")
        #expect(try await device.run("restore", "--undo").exit == .status(1))
    }

    @Test func `may have a colon in its name`() async throws {
        try source.fill("first")
        let file = source.folder("bell-12:30.tar.gz")
        let made = try await source.run("backup", file)
        #expect(made.exit == .status(0), "\(made.errors)")
        let restored = try await source.run("restore", file)
        #expect(restored.exit == .status(0), "\(restored.errors)")
    }

    @Test func `can be checked without being restored`() async throws {
        let (_, file) = try await backup()
        let device = try Device()
        try device.fill("second")
        let before = try device.files()
        let checked = try await device.run("restore", "--check", file)
        #expect(checked.exit == .status(0) && checked.output.contains("can be restored"), "\(checked.errors)")
        #expect(try device.files() == before)
    }

    @Test func `that cannot be written leaves nothing behind`() async throws {
        let device = try Device()
        try device.fill("first")
        let failed = try await device.run("backup", device.folder("no/such/folder.tar.gz"))
        #expect(failed.exit == .status(1) && failed.errors.contains("no/such"), "\(failed.errors)")
    }

    @Test func `tells which folders and pages it does not hold`() async throws {
        let device = try Device()
        let pages = "{pages: [{open: /srv/menu}, {open: \"https://shop.example.org/\"}], fallback: /srv/closed.html}"
        try device.folder.write(
            "scripts: {folder: /srv/scripts}\nkiosk: \(pages)\n",
            to: "etc/quickconnectd.yaml"
        )
        let made = try await device.run("backup", device.folder("device.tar.gz"))
        #expect(made.exit == .status(0), "\(made.errors)")
        let told = ["/srv/scripts", "/srv/closed.html", "/srv/menu"].map {
            "quickconnect: not in it: \($0), which is outside of \(device.configuration)\n"
        }
        #expect(made.errors == told.joined(), "\(made.errors)")
    }

    @Test func `holds what programs with one state folder keep in it, and goes back there`() async throws {
        let device = source
        try device.fill("first")
        for name in ["data.db", "users.json", "macros"] {
            let service = ["data.db": "data", "users.json": "web"][name] ?? "scripts"
            let place = device.folder("var/quickconnect-\(service)")
            rename("\(place)/\(name)", device.folder("var/quickconnect/\(name)"))
            try FileManager.default.removeItem(atPath: place)
        }
        let before = try device.files()
        let file = device.folder("device.tar.gz")
        let made = try await device.run("backup", file)
        #expect(made.output == "\(file): configuration, values, macros, data, actions, users\n", "\(made.errors)")
        try device.folder.write("changed", to: "var/quickconnect/data.db")
        try FileManager.default.removeItem(atPath: device.folder("var/quickconnect/macros"))
        let restored = try await device.run("restore", file)
        #expect(restored.exit == .status(0), "\(restored.errors)")
        #expect(try device.files() == before)
        // A backup of programs with folders of their own has not looked into this one.
        let other = try Device()
        try other.fill("second")
        _ = try await other.run("backup", file)
        let second = try await device.run("restore", file)
        #expect(second.exit == .status(0), "\(second.errors)")
        let kept = try device.files()
        for name in ["data.db", "users.json"] {
            #expect(kept["var/quickconnect/\(name)"] != nil, "\(name) of \(kept.keys.sorted())")
        }
    }

    @Test func `says where a running service has the data that it does not find`() async throws {
        let device = source
        try device.fill("first")
        try FileManager.default.removeItem(atPath: device.folder("var/quickconnect-data/data.db"))
        let daemon = try await device.daemon()
        defer { withExtendedLifetime(daemon) {} }
        let service = try SocketClient(path: device.folder("socket"))
        #expect(try await service.value("registerHandler", ["data"]) == .null)
        async let answered: Void = answer(service, "/srv/data/data.db")
        let made = try await device.run("backup", device.folder("device.tar.gz"))
        try await answered
        #expect(made.exit == .status(0), "\(made.errors)")
        #expect(made.errors.contains("not in it: the recorded data, in /srv/data/data.db"), "\(made.errors)")
    }
}
