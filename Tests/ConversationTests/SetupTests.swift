import Foundation
import JSON
import Linux
import TestRig
import Testing

/// `quickconnect setup`, as a person runs it: with programs that are started by hand, and with units.
@Suite("Set-up")
struct SetupTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        for name in ["mappings", "page"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        try writeSettings()
    }

    private func writeSettings(_ more: String = "") throws {
        let settings = """
            media: \(folder("media"))
            mappings: [\(Products.root)/mappings, \(folder("mappings"))]
            \(more)
            """
        try folder.write(settings, to: "quickconnectd.yaml")
    }

    private static let variables = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "SUDO_USER": "carla"]

    private func client(_ words: [String]) async throws -> (ChildProcess.Exit, output: String, errors: String) {
        let child = try ChildProcess(Products.path("quickconnect"), words, environment: Self.variables)
        let exit = try await child.wait()
        return (exit, String(decoding: child.standardOutput, as: UTF8.self), child.errors)
    }

    private func setup(_ words: String...) async throws -> (ChildProcess.Exit, output: String, errors: String) {
        let flags = ["--config", folder("quickconnectd.yaml"), "--socket", folder("socket")]
        return try await client(["setup"] + [words[0]] + flags + words.dropFirst())
    }

    private func files(in name: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder(name))) ?? []).sorted()
    }

    // MARK: Programs started by hand

    private func daemon(_ variables: [String: String] = Self.variables) async throws -> ChildProcess {
        let daemon = try ChildProcess(
            Products.path("quickconnectd"),
            ["--simulate", "--config", folder("quickconnectd.yaml"), "--socket", folder("socket")],
            environment: variables
        )
        try await eventually("the daemon listens") {
            if daemon.poll() != nil { throw NotInTime(description: daemon.errors) }
            return (try? SocketClient(path: folder("socket"))) != nil
        }
        return daemon
    }

    private func web(listen: String = "127.0.0.1:0") async throws -> ChildProcess {
        let web = try ChildProcess(
            Products.path("quickconnect-web"),
            [
                "--config", folder("quickconnectd.yaml"), "--socket", folder("socket"), "--state", folder("state"),
                "--listen", listen,
            ],
            environment: Self.variables
        )
        try await eventually("the gateway listens") {
            if web.poll() != nil { throw NotInTime(description: web.errors) }
            return web.errors.contains("listening on ")
        }
        return web
    }

    private func end(_ programs: ChildProcess...) async throws {
        for program in programs {
            program.send(SIGTERM)
            _ = try await program.wait()
        }
    }

    @Test func `a home has pages, people and their rights, and is gone after undo`() async throws {
        let first = try await setup("home")
        #expect(first.0 == .status(0), "\(first.errors)")
        #expect(
            first.output.contains(folder("settings.d/setup-home.yaml")) && first.output.contains("    gateway: web")
        )
        #expect(first.output.contains("quickconnect-web --config"), "what is left to do: \(first.output)")
        let (daemon, web) = (try await daemon(), try await web())

        let second = try await setup("home")
        #expect(second.0 == .status(0), "\(second.errors)")
        #expect(second.output.contains("web:carla is a person of the group web:home."), "\(second.output)")
        #expect(second.output.contains("Checked: web:carla can log in at http://127.0.0.1:"), "\(second.output)")
        #expect(!second.output.contains("#code="), "a log-in is for a terminal alone")
        let again = try await setup("home")
        #expect(again.0 == .status(0) && again.output.hasPrefix("Checked:"), "\(again.output)")

        try await checkRights()
        let undone = try await setup("home", "--undo")
        #expect(undone.0 == .status(0) && undone.output.contains("web:carla is removed."), "\(undone)")
        #expect(files(in: "settings.d").isEmpty && files(in: "mappings").isEmpty)
        #expect(try await client(["web", "user", "list", "--json", "--socket", folder("socket")]).output == "[]\n")
        // Without a set-up it removes nobody, whatever the groups are.
        let add = ["web", "user", "add", "dora", "--group", "home", "--socket", folder("socket")]
        #expect(try await client(add).0 == .status(0))
        #expect(try await setup("home", "--undo").output == "There is no set-up of a home here.\n")
        #expect(
            try await client(["web", "user", "list", "--json", "--socket", folder("socket")]).output.contains("dora")
        )
        try await end(web, daemon)
    }

    /// What a person at home may call, by a token over HTTP as a program would.
    private func checkRights() async throws {
        let socket = try SocketClient(path: folder("socket"))
        let link = try await socket.value("web", ["link", "carla"]).objectValue?["address"]?.stringValue ?? ""
        let port = UInt16(link.dropFirst("http://127.0.0.1:".count).prefix(while: \.isNumber)) ?? 0
        let added = try await socket.value("web", ["add", "dora", ["groups": ["home"]]])
        let token = added.objectValue?["token"]?.stringValue ?? ""
        func status(_ command: String, _ message: JSONValue) async throws -> Int {
            let connection = try WebConnection(port)
            let text = message.text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            connection.send(
                "POST /call?cmd=\(command)&msg=\(text) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
                    + "Authorization: Bearer \(token)\r\nContent-Length: 0\r\n\r\n"
            )
            return try await connection.answer().status
        }
        let allowed: [(String, JSONValue)] = [
            ("playSound", 0), ("state", .null), ("media", ["list"]), ("volume", .null),
        ]
        for (command, message) in allowed { #expect(try await status(command, message) == 200, "\(command)") }
        // No window: the rule lets it through.
        #expect(try await status("kiosk", ["state"]) == 503)
        let denied: [(String, JSONValue)] = [
            ("reload", .null), ("data", ["info"]), ("web", ["add", "eve"]), ("web", ["remove", "dora"]),
            ("simulate", ["tilt", "default"]), ("kiosk", ["evaluate", "1"]), ("kiosk", ["cookies", "x"]),
            ("macro", ["save", "a", "b"]),
        ]
        for (command, message) in denied { #expect(try await status(command, message) == 403, "\(command)") }
        _ = try await socket.value("web", ["remove", "dora"])
    }

    @Test func `a link is for a user that there is, and works once`() async throws {
        let process = try await WebProcess()
        let socket = try process.connect()
        let unknown = try await socket.failure("web", ["link", "ann"])
        let message = "there is no user ann; «quickconnect web user list» lists them"
        #expect(unknown["code"] == "notFound" && unknown["message"]?.stringValue == message, "\(unknown)")
        _ = try await process.token(of: "ann", groups: ["home"])
        let link = try await socket.value("web", ["link", "ann"]).objectValue?["address"]?.stringValue ?? ""
        let code = String(link.split(separator: "#code=").last ?? "")
        let cookie = try await process.logIn(["code": .string(code)])
        let session = try await process.ask("GET", "/session", ["Cookie: \(cookie)"])
        #expect(
            session.text.contains("\"user\":\"ann\"") && session.text.contains("\"groups\":[\"home\"]"),
            "\(session.text)"
        )
        #expect(try await process.logIn(["code": .string(code)]).isEmpty)
        let late = try await socket.value("web", ["link", "ann"]).objectValue?["address"]?.stringValue ?? ""
        _ = try await socket.value("web", ["remove", "ann"])
        let removed = String(late.split(separator: "#code=").last ?? "")
        #expect(try await process.logIn(["code": .string(removed)]).isEmpty, "a user who is gone logs in no more")
    }

    @Test func `its check visits an address of IPv6, too`() async throws {
        #expect(try await setup("home").0 == .status(0))
        let (daemon, web) = (try await daemon(), try await web(listen: "[::1]:0"))
        let checked = try await setup("home")
        #expect(checked.output.contains("Checked: web:carla can log in at http://[::1]:"), "\(checked)")
        try await end(web, daemon)
    }

    @Test func `it says how a daemon reads the mappings beside its settings, and whether one does`() async throws {
        try folder.write("media: \(folder("media"))\n", to: "quickconnectd.yaml")
        let first = try await setup("home")
        #expect(first.0 == .status(0) && files(in: "mappings") == ["setup-home.yaml"], "\(first)")
        for program in ["quickconnectd", "quickconnect-web"] {
            let line = "  CONFIGURATION_DIRECTORY=\(folder.path) \(program) --config \(folder("quickconnectd.yaml")) &"
            #expect(first.output.contains(line), "\(first.output)")
        }
        var variables = Self.variables
        let says = "does not read the mappings in \(folder("mappings")): pages may not use the kiosk's window."
        for isRead in [false, true] {
            if isRead { variables["CONFIGURATION_DIRECTORY"] = folder.path }
            let (daemon, web) = (try await daemon(variables), try await web())
            let second = try await setup("home")
            #expect(second.0 == .status(0) && second.output.contains(says) != isRead, "\(second)")
            try await end(web, daemon)
        }
    }

    // MARK: What it does not touch

    @Test func `mistakes of the owner's files are said, and nothing changes`() async throws {
        try writeSettings("zoom: 3")
        let broken = try await setup("home")
        #expect(broken.0 == .status(1) && broken.errors.contains("mend them first"), "\(broken.errors)")
        #expect(broken.errors.contains("quickconnectd.yaml:3:1: unknown key 'zoom'"), "\(broken.errors)")
        let own = "sockets: [{path: \(folder("quickconnect-web.sock")), gateway: web, user: root, commands: [ping]}]"
        try writeSettings(own)
        let twice = try await setup("home")
        #expect(twice.0 == .status(1) && twice.errors.contains("nothing was changed"), "\(twice.errors)")
        #expect(twice.errors.contains("quickconnectd.yaml:3:11, too; remove one of the two"), "\(twice.errors)")
        try writeSettings("kiosk: {page: /srv/page}")
        try folder.write("<title>x</title>", to: "page/index.html")
        let page = try await setup("kiosk", folder("page"))
        #expect(page.0 == .status(1) && page.errors.contains("'kiosk.page' is set in"), "\(page.errors)")
        #expect(files(in: "settings.d").isEmpty && files(in: "mappings").isEmpty)
    }

    @Test func `a file of somebody else stays as it is`() async throws {
        try FileManager.default.createDirectory(atPath: folder("settings.d"), withIntermediateDirectories: true)
        try folder.write("web: {names: [x.local]}\n", to: "settings.d/setup-home.yaml")
        for words in [["home"], ["home", "--undo"]] {
            let answer = try await client(["setup"] + words + ["--config", folder("quickconnectd.yaml")])
            #expect(answer.0 == .status(1) && answer.errors.contains("is not of this set-up"), "\(answer.errors)")
        }
        #expect(
            try String(contentsOfFile: folder("settings.d/setup-home.yaml"), encoding: .utf8)
                == "web: {names: [x.local]}\n"
        )
        #expect(files(in: "mappings").isEmpty)
    }

    @Test(
        "says what is wrong with what was typed",
        arguments: [
            (["home", "--network", "eth77"], 2, "no network at 'eth77': this device is at"),
            (["home", "--name", "a:b"], 2, "not 'a:b'"),
            (["kiosk"], 2, "FOLDER or ADDRESS is missing: the settings have no 'page'"),
            (["kiosk", "/no/such"], 1, "/no/such/index.html is missing: the page is a folder with an index.html"),
        ]
    )
    func typed(_ words: [String], _ status: Int32, _ text: String) async throws {
        let answer = try await client(["setup"] + words + ["--config", folder("quickconnectd.yaml")])
        #expect(answer.0 == .status(status) && answer.errors.contains(text), "\(answer.errors)")
        #expect(files(in: "settings.d").isEmpty)
    }

    // MARK: The window

    @Test func `a kiosk is checked by its window`() async throws {
        try folder.write("<title>Hello</title>", to: "page/index.html")
        let daemon = try await daemon()
        let first = try await setup("kiosk", folder("page"), "--monitor", "HDMI-1")
        #expect(first.0 == .status(0) && first.output.contains("  monitor: \"HDMI-1\""), "\(first)")
        #expect(first.output.contains("Open the window, and then say this once more"), "\(first.output)")

        try await answers(
            #"{"title":"Hello","isLoading":false,"problem":null,"monitor":{"name":"HDMI-1"}}"#,
            .status(0),
            "Checked: the window shows «Hello» on the monitor HDMI-1.",
            timeout: "60"
        )
        try await answers(
            #"{"isLoading":false,"problem":"no such file"}"#,
            .status(1),
            "the window does not show the page: no such file",
            timeout: "5"
        )
        #expect(try await setup("kiosk", "--undo").output.contains("setup-kiosk.yaml is removed"))
        try await end(daemon)
    }

    @Test func `a kiosk shows the pages of the owner's own settings`() async throws {
        try FileManager.default.createDirectory(atPath: folder("menu"), withIntermediateDirectories: true)
        try folder.write("<title>Menu</title>", to: "menu/index.html")
        let pages = "kiosk: {pages: [{open: menu, for: 20s}, {open: \"https://shop.example.org/\"}]}"
        try writeSettings(pages)
        let both = try await setup("kiosk", folder("menu"))
        #expect(both.0 == .status(1) && both.errors.contains("«quickconnect setup kiosk» alone"), "\(both)")
        #expect(files(in: "settings.d").isEmpty)
        let made = try await setup("kiosk")
        #expect(made.errors.isEmpty && made.output.contains("  kiosk:\n    fullScreen: true\n"), "\(made)")
        try folder.remove("menu/index.html")
        let missing = try await setup("kiosk")
        #expect(missing.0 == .status(1) && missing.errors.contains("menu/index.html is missing"), "\(missing)")
        // What a set-up has written is not what the owner has.
        try writeSettings("")
        try folder.write("<title>Menu</title>", to: "menu/index.html")
        _ = try await setup("kiosk", folder("menu"))
        #expect(try await setup("kiosk").errors.contains("FOLDER or ADDRESS is missing"))
    }

    /// Says it again while a window has that state.
    private func answers(_ state: String, _ exit: ChildProcess.Exit, _ text: String, timeout: String) async throws {
        let window = try SocketClient(path: folder("socket"))
        _ = try await window.value("registerHandler", ["kiosk"])
        let calls = Task {
            while let call = try await window.nextMessage() {
                window.send(#"{"responseId":\#(call["callbackId"]?.text ?? ""),"responseData":\#(state)}"#)
            }
        }
        let answer = try await setup("kiosk", folder("page"), "--monitor", "HDMI-1", "--timeout", timeout)
        #expect(answer.0 == exit && (answer.output + answer.errors).contains(text), "\(answer)")
        calls.cancel()
        window.close()
    }
}

/// On a device whose programs are units: with an /etc and a /run of its own, and a systemctl that notes what it is told.
@Suite(
    "Set-up of units",
    .enabled(if: geteuid() == 0 && MountNamespace.isPossible(MountNamespace.words + ["true"]), "it needs root's rights")
)
struct SetupOfUnitsTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        for name in ["bin", "etc", "run", "page"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        // What is-active asks for is active where a file says so.
        let systemctl = """
            #!/bin/sh
            case "$1 $2" in
              cat*) exit 0 ;;
              is-active*) for unit; do :; done; [ -e \(folder("active"))/$unit ]; exit ;;
            esac
            echo "$*" >>\(folder("commands"))
            [ ! -e \(folder("fails")) ] || { echo "Job failed."; exit 1; }
            """
        for (name, text) in [("systemctl", systemctl), ("startx", "#!/bin/sh\n"), ("X", "#!/bin/sh\n")] {
            try folder.write(text, to: "bin/\(name)")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder("bin/\(name)"))
        }
    }

    /// Runs the client as root of that device.
    private func client(_ words: String...) async throws -> (ChildProcess.Exit, output: String, errors: String) {
        let script = """
            set -e
            cp -a /etc/. \(folder("etc"))/ 2>/dev/null || true
            for user in quickconnect-web quickconnect-kiosk; do
              grep -q "^$user:" \(folder("etc/passwd")) || echo "$user:x:65534:65534::/:/bin/false" >>\(folder("etc/passwd"))
            done
            mkdir -p \(folder("run/systemd/system"))
            mount --bind \(folder("etc")) /etc
            mount --bind \(folder("run")) /run
            exec "$@"
            """
        let child = try ChildProcess(
            "/usr/bin/env",
            MountNamespace.words + ["sh", "-c", script, "sh", Products.path("quickconnect")] + words,
            environment: ["PATH": "\(folder("bin")):/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/nonexistent"]
        )
        let exit = try await child.wait()
        return (exit, String(decoding: child.standardOutput, as: UTF8.self), child.errors)
    }

    private var commands: [String] {
        (try? String(contentsOfFile: folder("commands"), encoding: .utf8).split(separator: "\n").map(String.init)) ?? []
    }

    private func text(_ path: String) -> String { (try? String(contentsOfFile: folder(path), encoding: .utf8)) ?? "" }

    @Test func `a home switches units on and off`() async throws {
        let network = try #require(LocalNetwork.all.first, "a machine without a network")
        let made = try await client("setup", "home", "--name", "ann", "--network", network.interface)
        // This device's systemctl starts nothing, so that no daemon answers.
        #expect(made.0 == .status(3) && made.errors.contains("no daemon answers"), "\(made)")
        #expect(
            made.output.contains("Whoever is in the network \(network.subnet) and listens can read"),
            "\(made.output)"
        )
        #expect(
            commands == [
                "daemon-reload", "enable quickconnect-web.socket", "stop quickconnect-web.service",
                "restart quickconnect-web.socket", "restart quickconnectd.service",
            ]
        )
        #expect(text("etc/quickconnect/settings.d/setup-home.yaml").contains("  - systemd: web\n"))
        #expect(text("etc/quickconnect/mappings/setup-home.yaml").contains("web:home"))
        let units = "etc/systemd/system/quickconnect-web"
        #expect(text("\(units).socket.d/home.conf").contains("ListenStream=\nListenStream=0.0.0.0:8467"))
        #expect(text("\(units).service.d/home.conf").contains("IPAddressAllow=\(network.subnet)"))

        try folder.remove("commands")
        let closed = try await client("setup", "home", "--name", "ann", "--network", "none")
        #expect(
            closed.output.contains("home.conf is removed") && !folder.exists("\(units).socket.d/home.conf"),
            "\(closed)"
        )
        try folder.remove("commands")
        let undone = try await client("setup", "home", "--undo")
        #expect(undone.0 == .status(0) && commands.first == "disable --now quickconnect-web.socket", "\(undone)")
        #expect(!folder.exists("etc/quickconnect/settings.d/setup-home.yaml"))
    }

    @Test func `a kiosk takes the console, unless a desktop has it`() async throws {
        try folder.write("<title>Hello</title>", to: "page/index.html")
        try FileManager.default.createDirectory(atPath: folder("active"), withIntermediateDirectories: true)
        try folder.write("", to: "active/display-manager.service")
        let desktop = try await client("setup", "kiosk", folder("page"))
        #expect(desktop.0 == .status(1) && desktop.errors.contains("a desktop has the screen"), "\(desktop)")
        #expect(commands.isEmpty && !folder.exists("etc/quickconnect/settings.d/setup-kiosk.yaml"))
        try folder.remove("active/display-manager.service")
        let made = try await client("setup", "kiosk", folder("page"), "--timeout", "1")
        #expect(made.0 == .status(1) && made.errors.contains("no window answers; «journalctl"), "\(made)")
        #expect(commands == ["enable quickconnect-kiosk.service", "restart quickconnect-kiosk.service"])
        #expect(text("etc/quickconnect/settings.d/setup-kiosk.yaml").contains("  leaveKey: none"))
        let undone = try await client("setup", "kiosk", "--undo")
        #expect(undone.0 == .status(0) && commands.last == "disable --now quickconnect-kiosk.service", "\(undone)")
    }

    @Test func `the doctor brings the screen of a kiosk by its unit, not by a session of somebody's`() async throws {
        let daemon = try await DaemonProcess()
        let own = try await client("doctor", "screen", "--socket", daemon.socket)
        #expect(own.0 == .status(1) && own.output.contains("systemctl --user start quickconnect-picker"), "\(own)")
        try FileManager.default.createDirectory(atPath: folder("active"), withIntermediateDirectories: true)
        try folder.write("", to: "active/quickconnect-kiosk.service")
        let kiosk = try await client("doctor", "screen", "--socket", daemon.socket)
        #expect(kiosk.output.contains("sudo systemctl restart quickconnect-kiosk"), "\(kiosk)")
        #expect(kiosk.0 == .status(1) && !kiosk.output.contains("--user"), "\(kiosk)")
    }

    @Test func `a unit that fails is told`() async throws {
        try folder.write("", to: "fails")
        let made = try await client("setup", "home", "--network", "none")
        #expect(
            made.0 == .status(1) && made.errors.contains("«systemctl daemon-reload» failed: Job failed."),
            "\(made)"
        )
    }
}
