import Configuration
import Foundation
import JSON
import TestRig
import Testing

@testable import quickconnect

/// The texts of `quickconnect new` for a name.
@Suite("The texts of a new project")
struct NewProjectTextTests {
    private func project(_ kind: NewProject.Kind, _ user: String = "ann", shared: String = "/srv/sources") -> NewProject
    {
        NewProject(kind: kind, name: "bell", user: user, shared: shared)
    }

    @Test func `each word of a template is replaced, once`() {
        let python = NewProject(kind: .program(.python), name: "RUN", user: "USER", shared: "/x")
        let filled = python.filled("NAME.yaml NAMECount {users: [USER]}: RUN")
        #expect(filled == #"RUN.yaml RUNCount {users: ["USER"]}: python3 main.py"#)
        #expect(project(.script, #"a"b"#).filled("[USER]") == #"["a\"b"]"#)
        let package = project(.program(.swift)).filled("(path: SOURCES, package: PACKAGE)")
        #expect(package == #"(path: "/srv/sources", package: "sources")"#)
        #expect(project(.page).filled("") == "")
    }

    @Test(arguments: [
        NewProject.Kind.script, .page, .kiosk, .program(.python), .program(.node), .program(.swift),
    ])
    func `no word of a template is left`(kind: NewProject.Kind) throws {
        let project = project(kind)
        var count = 0
        for template in project.templates {
            let folder = "\(Products.root)/templates/\(template)"
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder)
            where FileManager.default.contents(atPath: "\(folder)/\(path)") != nil {
                let text = try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
                let filled = project.filled(path) + project.filled(text)
                #expect(!filled.contains(/NAME|USER|RUN\b|SOURCES|PACKAGE/), "\(path)")
                // A package's file that begins so would have to be a program of it.
                #expect(!text.hasPrefix("#!"), "\(path)")
                count += 1
            }
        }
        #expect(count >= 3)
    }

    @Test(arguments: ["bell", "Bell2", "a", "door_bell", String(repeating: "a", count: 50)])
    func `is a name`(name: String) {
        #expect(NewProject.problem(of: name) == nil)
    }

    @Test(
        arguments: [
            ("", nil), ("9x", nil), (".", nil), ("..", nil), ("a/b", nil), ("../x", nil), ("_a", nil), ("Ünder", nil),
            ("a\nb", nil), (String(repeating: "a", count: 51), nil), ("door-bell", "doorBell"), ("my bell", "myBell"),
            ("bell.js", "bellJs"),
        ] as [(String, String?)]
    )
    func `is no name`(name: String, near: String?) throws {
        let problem = try #require(NewProject.problem(of: name))
        #expect(problem.contains(NewProject.rule))
        #expect(problem.hasSuffix(near.map { "how about '\($0)'?" } ?? NewProject.rule), "\(problem)")
    }

    @Test(arguments: ["default", "error", "bridge", "login"])
    func `what each device has is no name`(name: String) {
        #expect(NewProject.problem(of: name)?.contains("is taken on each device") == true)
    }

    @Test(arguments: [
        "bell:\n  value: {x: 1}", "\"bell\":\r\nother: {}\r\n", "# bells\n'bell' : {}", "---\n  a: {}\n  bell: {}\n",
        "{a: {}, bell: {}}", "\u{FEFF}bell: {}",
    ])
    func `a name in a file of mappings is seen`(text: String) throws {
        #expect(MappingFiles.names(in: text).contains("bell"))
        let problem = project(.page).problem(of: "bell: {}\nbellSays: {}\n", besides: text, in: "/m/x.yaml")
        #expect(problem?.contains("'bell' is taken on this device: bell is in /m/x.yaml") == true)
    }

    @Test(arguments: ["", "# bell: 1\n", "a:\n  bell: 1\n", "a: {help: 'x', bell: 2}\n", "bells: {}\n"])
    func `what is no name of a mapping is not`(text: String) {
        #expect(project(.page).problem(of: "bell: {}\n", besides: text, in: "/m/x.yaml") == nil)
    }

    @Test func `the line for the device is one for a shell`() {
        let line = project(.page).installing(in: "/home/ann b/.config/quickconnect", sudo: "")
        let mapping = "'/home/ann b/.config/quickconnect/mappings/bell.yaml'"
        let reload = "{ quickconnect call reload || { rm \(mapping); false; }; }"
        #expect(line.hasPrefix("install -Dm644 bell/bell.yaml \(mapping) && \(reload) && "), "\(line)")
        let kiosk = project(.kiosk).installing(in: "/etc/quickconnect", sudo: "sudo ")
        #expect(kiosk.hasSuffix(" && sudo quickconnect setup kiosk /etc/quickconnect/kiosk/bell"))
    }
}

/// `quickconnect new` in an empty folder, as a person uses it: what it prints is typed.
@Suite("A new project")
struct NewProjectTests {
    private let folder: TestFolder
    private var variables: [String: String]

    init() throws {
        folder = try TestFolder()
        let programs = URL(fileURLWithPath: Products.path("quickconnect")).deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        variables = ["PATH": "\(programs):\(path)", "HOME": folder("home"), "PYTHONDONTWRITEBYTECODE": "1"]
        variables["CONFIGURATION_DIRECTORY"] = folder("config")
        for name in ["home", "work"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
    }

    private typealias Printed = (exit: ChildProcess.Exit, output: String, errors: String)

    /// Types a line in the folder.
    private func type(_ line: String) async throws -> Printed {
        let words = ["-c", "cd \(folder("work")) && \(line)"]
        let child = try ChildProcess("/bin/sh", words, environment: variables)
        let exit = try await child.wait(within: .seconds(120))
        return (exit, String(decoding: child.standardOutput, as: UTF8.self), child.errors)
    }

    /// The lines that it prints to be typed: what shows it, and what puts it on the device.
    private func make(_ words: String) async throws -> (shows: String, installs: String) {
        let made = try await type("quickconnect new \(words)")
        #expect(made.exit == .status(0), "\(made.errors)")
        let lines = made.output.split(separator: "\n").filter { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }
        try #require(lines.count == 2, "\(made.output)")
        return (lines[0], lines[1])
    }

    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder("work"))) ?? []).sorted()
    }

    @Test(arguments: ["script"] + ClientLanguage.installed.map { "program --\($0.rawValue)" })
    func `a script or program passes its own test`(kind: String) async throws {
        let shown = try await type(make("\(kind) bell").shows)
        #expect(shown.exit == .status(0), "\(shown.errors)")
        #expect(shown.output.hasPrefix("bell works"))
        #expect(names == ["bell"], "nothing else is made")
    }

    @Test func `a mistake fails its test, with the place`() async throws {
        let shows = try await make("script bell").shows
        try folder.write("quickconnect.handel('bell', () => 1)\n", to: "work/bell/bell.js")
        let script = try await type(shows)
        #expect(script.exit == .status(1) && script.errors.contains("bell.js:1"), "\(script.errors)")
        try folder.write("bell: {valu: {type: integer}}\n", to: "work/bell/bell.yaml")
        let mapping = try await type(shows)
        #expect(mapping.exit == .status(1) && mapping.errors.contains("bell.yaml:1:8"), "\(mapping.errors)")
    }

    @Test(.enabled(if: ChildProcess.isInstalled("curl"), "curl is not installed"))
    func `a page is served, and counts`() async throws {
        let shown = try await type("\(make("page bell").shows) --test")
        #expect(shown.exit == .status(0) && shown.output.hasPrefix("bell works"), "\(shown)")
        let mapping = try String(contentsOfFile: folder("work/bell/bell.yaml"), encoding: .utf8)
        try folder.write(mapping.replacing("web:home", with: "web:garden"), to: "work/bell/bell.yaml")
        let denied = try await type("bell/show --test")
        #expect(denied.exit == .status(1) && denied.errors.contains("web:garden"), "\(denied.errors)")
    }

    @Test(.enabled(if: access(Products.path("quickconnect-kiosk"), X_OK) == 0, "the kiosk is not built"))
    func `a kiosk's settings have no mistake`() async throws {
        let shown = try await type("\(make("kiosk bell").shows) --test")
        #expect(shown.exit == .status(0) && shown.output.hasPrefix("bell works"), "\(shown)")
        try folder.write("kiosk: {zom: 2}\n", to: "work/bell/kiosk.yaml")
        let mistaken = try await type("bell/show --test")
        #expect(mistaken.exit == .status(1) && mistaken.errors.contains("kiosk.yaml:1:9"), "\(mistaken.errors)")
    }

    @Test(.enabled(if: ChildProcess.isInstalled("swiftc"), "swiftc is not in PATH: see https://swift.org/install"))
    func `a program in Swift has no mistake for the compiler`() async throws {
        _ = try await make("program --swift bell")
        let products = URL(fileURLWithPath: Products.path("quickconnect")).deletingLastPathComponent().path
        let checked = try await type(
            """
            swiftc -typecheck -swift-version 6 -warnings-as-errors -parse-as-library -I \(products)/Modules \
            -Xcc -fmodule-map-file=\(products)/CLinux.build/module.modulemap bell/Sources/Program.swift
            """
        )
        #expect(checked.exit == .status(0), "\(checked.errors)")
        let package = try String(contentsOfFile: folder("work/bell/Package.swift"), encoding: .utf8)
        #expect(package.contains(#".package(path: "\#(Products.root)", traits: [])"#), "\(package)")
    }

    @Test func `the second line puts a script on the device`() async throws {
        var test = self
        test.variables["QUICKCONNECT_SOCKET"] = folder("socket")
        test.variables["STATE_DIRECTORY"] = folder("state")
        let daemon = try ChildProcess(Products.path("quickconnectd"), ["--simulate"], environment: test.variables)
        try await eventually("the daemon listens") { (try? SocketClient(path: folder("socket"))) != nil }
        let installs = try await test.make("script bell").installs
        let installed = try await test.type(installs)
        #expect(installed.exit == .status(0), "\(installed.errors)")
        let host = try ChildProcess(Products.path("quickconnect-scripts"), environment: test.variables)
        let client = try SocketClient(path: folder("socket"))
        try await eventually("the script answers") { try await client.reply("bell", ["Ann"]).code == nil }
        #expect(try await client.value("bell", ["Ann"]) == "Hello Ann, the count is 0.")
        for program in [host, daemon] {
            program.send(SIGTERM)
            #expect(try await program.wait() == .status(0))
        }
    }

    // MARK: What is refused

    @Test func `what is there stays as it is`() async throws {
        try folder.write("mine", to: "work/file")
        #expect(try await type("mkdir empty && ln -s nowhere link && ln -s empty folder").exit == .status(0))
        for name in ["file", "empty", "link", "folder"] {
            let made = try await type("quickconnect new script \(name)")
            #expect(made.exit == .status(1))
            #expect(made.errors == "quickconnect: \(name) is here already, and stays as it is: take another name\n")
        }
        #expect(names == ["empty", "file", "folder", "link"])
        #expect(try folder.data("work/file") == Data("mine".utf8))
        #expect(try await type("rmdir empty").exit == .status(0), "nothing is in it")
    }

    @Test(arguments: ["door-bell", "volume", "sound", "../bell", "default"])
    func `a name that is none makes nothing`(name: String) async throws {
        let made = try await type("quickconnect new page \(name)")
        #expect(made.exit == .status(2) && made.errors.contains("'\(name)'"), "\(made.errors)")
        #expect(names.isEmpty)
    }

    @Test(arguments: [
        ("script", "mappings/bell.yaml"), ("script", "scripts/bell.js"), ("page", "pages/bell/index.html"),
        ("kiosk", "settings.d/kiosk.yaml"), ("kiosk", "kiosk/bell/x"),
    ])
    func `a file of the owner's is not replaced by the second line`(kind: String, file: String) async throws {
        #expect(try await type("install -D /dev/null ../config/\(file)").exit == .status(0))
        let made = try await type("quickconnect new \(kind) bell")
        let place = folder("config/\(file.split(separator: "/").prefix(2).joined(separator: "/"))")
        #expect(made.exit == .status(2) && made.errors.contains("\(place) is there"), "\(made.errors)")
        #expect(names.isEmpty)
    }

    @Test func `no name of its mapping is one of the device's`() async throws {
        try FileManager.default.createDirectory(atPath: folder("config/mappings"), withIntermediateDirectories: true)
        try folder.write("\"bellCount\" : {value: {type: integer}}\n", to: "config/mappings/mine.yaml")
        let made = try await type("quickconnect new script bell")
        let says = "bellCount is in \(folder("config"))/mappings/mine.yaml"
        #expect(made.exit == .status(2) && made.errors.contains(says), "\(made.errors)")
        #expect(try await type("quickconnect new page bell").exit == .status(0), "a page has no such name")
    }

    @Test func `what the daemon does not take is not left on the device`() async throws {
        var test = self
        test.variables["QUICKCONNECT_SOCKET"] = folder("socket")
        test.variables["STATE_DIRECTORY"] = folder("state")
        let daemon = try ChildProcess(Products.path("quickconnectd"), ["--simulate"], environment: test.variables)
        try await eventually("the daemon listens") { (try? SocketClient(path: folder("socket"))) != nil }
        let installs = try await test.make("script bell").installs
        try folder.write("bell: {valu: {type: integer}}\n", to: "work/bell/bell.yaml")
        let installed = try await test.type(installs)
        #expect(installed.exit == .status(1) && installed.errors.contains("bell.yaml:1:8"), "\(installed.errors)")
        #expect(!folder.exists("config/mappings/bell.yaml") && !folder.exists("config/scripts/bell.js"))
        daemon.send(SIGTERM)
        #expect(try await daemon.wait() == .status(0))
    }

    @Test func `no half of a folder is left`() async throws {
        let made = try await type("trap '' XFSZ; ulimit -f 1; quickconnect new page bell")
        #expect(made.exit == .status(1) && made.errors.contains("bell: write: "), "\(made.errors)")
        #expect(names.isEmpty, "\(names)")
    }

    @Test func `a new folder has what the umask leaves, and what can be run is a program`() async throws {
        #expect(try await type("umask 027; quickconnect new page bell").exit == .status(0))
        let modes = try await type("stat -c %a bell bell/page bell/show bell/bell.yaml")
        #expect(modes.output == "750\n750\n750\n640\n")
    }
}
