import Foundation
import JSON
import TestRig
import Testing

/// A daemon that says what a test wants: takes one connection and answers each line with given text.
private final class FakeDaemon: Sendable {
    let folder: TestFolder
    private let listener: Int32

    /// - Parameter answer: what is written for a line; nil closes the connection. ID stands for the line's id.
    init(_ answer: @escaping @Sendable (String) -> String?) throws {
        folder = try TestFolder()
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(folder("s").utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0, listen(listener, 8) == 0 else { throw NotInTime(description: "the fake daemon cannot listen") }
        Thread { Self.serve(listener, answer) }.start()
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    private static func serve(_ listener: Int32, _ answer: (String) -> String?) {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0, let file = fdopen(client, "r+") else { break }
            defer { fclose(file) }
            var line: UnsafeMutablePointer<CChar>?
            var size = 0
            while getline(&line, &size, file) > 0, let text = line.map({ String(cString: $0) }) {
                let id = text.firstMatch(of: /id=([^&\n]*)/).map { String($0.1) } ?? ""
                guard let reply = answer(text.trimmingCharacters(in: .newlines)) else { break }
                let bytes = Array(reply.replacingOccurrences(of: "ID", with: id).utf8)
                _ = bytes.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
            free(line)
        }
        close(listener)
    }

    func client(_ arguments: [String]) async throws -> (exit: ChildProcess.Exit, output: String, errors: String) {
        let child = try ChildProcess(
            Products.path("quickconnect"),
            arguments,
            environment: ["PATH": "/usr/bin:/bin", "QUICKCONNECT_SOCKET": folder("s")]
        )
        let exit = try await child.wait()
        return (
            exit, String(decoding: child.standardOutput, as: UTF8.self),
            String(decoding: child.standardError, as: UTF8.self)
        )
    }
}

@Suite("The client")
struct ClientTests {
    private static func echo(_ line: String) -> String {
        let message = line.firstMatch(of: /msg=([^&]*)/).map { String($0.1) } ?? "%22none%22"
        return "handleJSONRequest?cmd=x&msg=\(message)&id=ID\n"
    }

    @Test(
        "Arguments become the message: none, one as it is, more as an array",
        arguments: [
            (["x"], #""none""#), (["x", "-1"], "-1"), (["x", #"{"a": 1}"#], #"{"a":1}"#),
            (["x", "a", "2", "--help", #""q""#], #"["a",2,"--help","q"]"#), (["--timeout", "9", "x", "--json"], nil),
        ]
    )
    func message(arguments: [String], output: String?) async throws {
        let daemon = try FakeDaemon { Self.echo($0) }
        let result = try await daemon.client(["call"] + arguments)
        // One argument goes as it is, also where it is no JSON; the fake daemon's echo of that is no reply.
        guard let output else { return #expect(result.exit != .status(2)) }
        #expect(result.exit == .status(0) && result.output == output + "\n", "\(result)")
    }

    @Test func `replies to others and events in between are passed over, a reply may come in pieces`() async throws {
        let daemon = try FakeDaemon { _ in
            "handleJSONRequest?cmd=x&msg=1&id=other\n{\"handlerName\":\"e\",\"data\":1}\n"
                + "handleJSONRequest?cmd=e&msg=2\nhandleJSONRequest?cmd=showX&msg=3&id=ID\n"
        }
        let result = try await daemon.client(["call", "x"])
        #expect(result.exit == .status(0) && result.output == "3\n")
    }

    @Test func `an error reply exits with 1 and says code and message`() async throws {
        let daemon = try FakeDaemon { _ in
            "handleJSONRequest?cmd=error&msg=%7B%22code%22%3A%22busy%22%2C%22message%22%3A%22taken%22%7D&id=ID\n"
        }
        let result = try await daemon.client(["call", "x"])
        #expect(result.exit == .status(1) && result.output.isEmpty)
        #expect(result.errors == "quickconnect: busy: taken\n")
    }

    @Test func `wrong usage exits with 2`() async throws {
        let daemon = try FakeDaemon { Self.echo($0) }
        for arguments in [["call"], ["nope"], ["call", "--timeout", "x", "y"], ["list", "--nope"]] {
            #expect(try await daemon.client(arguments).exit == .status(2), "\(arguments)")
        }
        #expect(try await daemon.client(["call", "--help"]).exit == .status(0))
    }

    @Test(arguments: [
        (
            ["macro", "save", "x", "() => 1"],
            "did you mean «quickconnect call macro save x '() => 1'», or «quickconnect macro edit x»?"
        ),
        (["playSound", "0"], "there is no subcommand 'playSound'; did you mean «quickconnect call playSound 0»?"),
        (["lamp", "it's on"], "did you mean «quickconnect call lamp 'it'\\''s on'»?"),
        (["evnts"], "did you mean 'events'? To call the daemon: «quickconnect call evnts»."),
        (["relaod"], "did you mean «quickconnect call reload»? To call the daemon: «quickconnect call relaod»."),
        (["web", "user", "ad", "bob"], "there is no subcommand 'ad' of «quickconnect web user», did you mean 'add'?"),
        (["media", "frob"], "there is no subcommand 'frob' of «quickconnect media»: it has list, get, put, remove"),
    ])
    func `a word that is no subcommand is asked about`(words: [String], says: String) async throws {
        let daemon = try FakeDaemon { Self.echo($0) }
        let result = try await daemon.client(words)
        #expect(result.exit == .status(2) && result.errors.contains(says), "\(result)")
        #expect(try await daemon.client(["help", "call"]).exit == .status(0))
    }

    @Test func `with --json an error is a line of JSON on standard error`() async throws {
        let daemon = try await DaemonProcess()
        func errors(_ words: String...) async throws -> (exit: ChildProcess.Exit, json: JSONObject?) {
            let child = try daemon.startClient(words)
            let exit = try await child.wait()
            #expect(child.standardOutput.isEmpty)
            return (exit, try? JSONParser.parse(String(decoding: child.standardError, as: UTF8.self)).objectValue)
        }
        let refused = try await errors("call", "--json", "volume", "200")
        #expect(refused.exit == .status(1) && refused.json?["code"] == "invalid" && refused.json?["fields"] != nil)
        let nobody = try await errors("call", "--json", "--socket", daemon.folder("none"), "ping")
        #expect(nobody.exit == .status(3) && nobody.json?["message"]?.stringValue?.contains("no daemon") == true)
        #expect(try await daemon.client("call", "--json", "ping").output == "null\n")
    }

    @Test func `an output that cannot be written exits with 5 and says why`() async throws {
        let daemon = try await DaemonProcess()
        let words = ["-c", "\"$0\" \"$@\" >/dev/full", Products.path("quickconnect")]
        for command in [["call", "hello"], ["list"], ["doctor", "--json"]] {
            let child = try ChildProcess(
                "/bin/sh",
                words + command,
                environment: ["PATH": "/usr/bin:/bin", "QUICKCONNECT_SOCKET": daemon.socket]
            )
            #expect(try await child.wait() == .status(5), "\(command)")
            #expect(String(decoding: child.standardError, as: UTF8.self).contains("No space left on device"))
        }
    }

    @Test func `events are listed, and a name that is none is asked about`() async throws {
        // Nothing is simulated here: this daemon has no accelerometer.
        let daemon = try await DaemonProcess(["--pcm", "null"], settings: "motion: {device: /nonexistent}")
        let all = try await daemon.client("events")
        #expect(all.exit == .status(0) && all.output.contains("playState\n") && all.output.contains("innerProgress\n"))
        #expect(all.output.contains("accel") && all.output.contains("not here: "), "\(all.output)")
        let json = try JSONParser.parse(try await daemon.client("events", "--json").output).arrayValue ?? []
        let lacks = json.compactMap(\.objectValue).filter { $0["lack"] != nil }
        #expect(
            lacks.contains { $0["event"] == "accel" && $0["code"]?.stringValue?.hasPrefix("un") == true },
            "\(json)"
        )
        let events = try daemon.startClient(["events", "playStat"])
        try await eventually("it says so") {
            String(decoding: events.standardError, as: UTF8.self).contains(
                "'playStat' is not an event of this device, did you mean 'playState'?"
            )
        }
        let later = try daemon.startClient(["events", "gardenNews"])
        try await eventually("it waits") {
            later.errors.hasPrefix(
                "quickconnect: waiting for 'gardenNews', which only clients post; the device itself has "
            )
        }
        // Somebody may post it all the same.
        let client = try daemon.connect()
        try await eventually("it has subscribed") {
            try await client.ask("call?cmd=state&id=1")?.contains("playStat%22%2C%22subscribers") ?? false
        }
        func postErrors(_ arguments: String...) async throws -> String {
            let post = try daemon.startClient(["call", "post"] + arguments)
            #expect(try await post.wait() == .status(0))
            return post.errors
        }
        #expect(try await postErrors("playStat", "1") == "")
        // Which nobody hears.
        let near = "quickconnect: nothing declares 'recStat', did you mean 'recState'?\n"
        #expect(try await postErrors("recStat", "1") == near)
        #expect(try await postErrors(#"["recStat", {"a": 1}]"#) == near)
        try await eventually("the event is printed") { events.outputSize > 0 }
    }

    @Test(.enabled(if: ChildProcess.isInstalled("mandoc"), "mandoc is not installed"))
    func `what the manual shows can be pasted`() async throws {
        let page = try await ChildProcess.run("mandoc", ["-T", "utf8", Products.root + "/man/quickconnect.1"]).output
        let text = page.replacing(/.\u{8}/, with: "")
        #expect(text.contains(#"quickconnect call post doorbell '{"door": "front"}'"#))
        #expect(text.contains(#"{"event":"#) && text.contains(#","data":"#), "\(text.prefix(3000))")
        #expect(!text.contains("\u{2019}{") && !text.contains("\u{201c}"))
    }

    @Test(.enabled(if: geteuid() == 0, "only root may be somebody else"))
    func `who may not connect is told the group that the socket has`() async throws {
        let daemon = try await DaemonProcess()
        for (group, mode, says) in [
            ("audio", mode_t(0o660), "sudo usermod -aG audio $USER"), ("root", 0o660, "only its owner may connect"),
            ("audio", 0o600, "only its owner may connect"),
        ] {
            #expect(
                chown(daemon.socket, 0, getgrnam(group)?.pointee.gr_gid ?? 0) == 0 && chmod(daemon.socket, mode) == 0
            )
            let child = try ChildProcess(
                "setpriv",
                ["--reuid=65534", "--regid=65534", "--clear-groups", Products.path("quickconnect"), "call", "ping"],
                environment: ["PATH": "/usr/bin:/bin", "QUICKCONNECT_SOCKET": daemon.socket]
            )
            #expect(try await child.wait() == .status(3))
            let errors = String(decoding: child.standardError, as: UTF8.self)
            #expect(errors.contains(says) && !errors.contains("systemctl start"), "\(errors)")
        }
    }

    @Test func `a lost connection and no daemon exit with 3, no answer in time with 4`() async throws {
        let closing = try FakeDaemon { _ in nil }
        #expect(try await closing.client(["call", "x"]).exit == .status(3))
        let silent = try FakeDaemon { _ in "" }
        #expect(try await silent.client(["call", "--timeout", "0.2", "x"]).exit == .status(4))
        let nobody = try await silent.client(["call", "--socket", silent.folder("none"), "x"])
        #expect(nobody.exit == .status(3) && nobody.errors.contains(silent.folder("none")))
        try silent.folder.write("", to: "file")
        for path in [silent.folder("file"), silent.folder.path] {
            let other = try await silent.client(["call", "--socket", path, "x"])
            #expect(other.exit == .status(3) && other.errors.contains("\(path) is no socket"), "\(other)")
            #expect(!other.errors.contains("quickconnectd --simulate"), "there none can be started")
        }
        let logged = try await silent.client(["call", "--json", "--socket", silent.folder("none"), "x"])
        #expect(logged.errors.contains("«quickconnectd --simulate") && !logged.errors.contains(#"\n"#), "\(logged)")
    }

    @Test(arguments: [
        (
            "{'door':'front'}",
            "quickconnect: «{'door':'front'}» is no JSON, so it is sent as text: names and texts of JSON are in double quotes\n"
        ),
        (
            "{door:front}",
            "quickconnect: «{door:front}» is no JSON, so it is sent as text: a shell takes double quotes away, so put '…' around JSON\n"
        ),
        ("[1, 2", "quickconnect: «[1, 2» is no JSON, so it is sent as text\n"),
        ("--socket=x", "quickconnect: «--socket» behind post is an argument of post; an option comes before it\n"),
        (#"{"door": "front"}"#, ""), ("front", ""), ("[]", ""),
    ])
    func `an argument that is an option, or begins like JSON and is none, is sent as text with a note`(
        argument: String,
        note: String
    )
        async throws
    {
        let daemon = try await DaemonProcess()
        let call = try daemon.startClient(["call", "post", "doorbell", argument])
        #expect(try await call.wait() == .status(0))
        #expect(call.errors == note && String(decoding: call.standardOutput, as: UTF8.self) == "null\n")
    }

    @Test func `an option behind a script is the script's, with a note`() async throws {
        let run = try ChildProcess(
            Products.path("quickconnect"),
            ["run", "/dev/null", "--socket", "x"],
            environment: ["PATH": "/usr/bin:/bin"]
        )
        _ = try await run.wait()
        let note = "quickconnect: «--socket» behind /dev/null is an argument of /dev/null; an option comes before it\n"
        #expect(run.errors.hasPrefix(note), "\(run.errors)")
    }

    @Test func `the options of a connection may come before the command`() async throws {
        let daemon = try await DaemonProcess()
        func run(_ arguments: String...) async throws -> (exit: ChildProcess.Exit, output: String) {
            try await ChildProcess.run(
                Products.path("quickconnect"),
                arguments,
                environment: ["PATH": "/usr/bin:/bin", "HOME": daemon.folder.path]
            )
        }
        let inner = try await run("--socket", daemon.socket, "--timeout=20", "call", "innerProgress", "-1")
        #expect(inner.exit == .status(0) && inner.output == "0\n")
        #expect(try await run("--timeout", "20", "--socket=\(daemon.socket)", "media", "list").exit == .status(0))
        // What is wrong stays wrong.
        #expect(try await run("--socket", daemon.socket, "cal", "ping").exit == .status(2))
        #expect(try await run("--socket").exit == .status(2))
        #expect(try await run("--sockets", daemon.socket, "call", "ping").exit == .status(2))
        #expect(try await run("--socket", daemon.folder("none"), "call", "ping").exit == .status(3))
    }

    @Test func `a socket's file without a daemon exits with 3, a frozen daemon with 4`() async throws {
        let daemon = try await RestartedDaemon()
        func call(_ arguments: String...) async throws -> ChildProcess.Exit {
            try await ChildProcess.run(
                Products.path("quickconnect"),
                arguments,
                environment: ["PATH": "/usr/bin:/bin", "QUICKCONNECT_SOCKET": daemon.socket]
            ).exit
        }
        #expect(try await call("call", "ping") == .status(0))
        daemon.freeze()
        #expect(try await call("call", "--timeout", "0.2", "ping") == .status(4))
        #expect(try await call("list", "--timeout", "0.2") == .status(4))
        daemon.thaw()
        try await daemon.kill()
        #expect(FileManager.default.fileExists(atPath: daemon.socket))
        #expect(try await call("call", "ping") == .status(3))
        #expect(try await call("events", "news") == .status(3))
    }

    @Test func `a line that the daemon skips is an error, and nothing waits for its reply`() async throws {
        let daemon = try await DaemonProcess(settings: "limits: {lineBytes: 65536}")
        let long = try await daemon.client(
            "call",
            "--timeout",
            "20",
            "logMessage",
            String(repeating: "x", count: 100_000)
        )
        #expect(long.exit == .status(1))
        let deep = try await daemon.client("call", "--timeout", "20", "logMessage", String(repeating: "[", count: 600))
        #expect(deep.exit == .status(1))
    }

    @Test func `events are printed as objects until SIGINT, which exits with 0`() async throws {
        let daemon = try await DaemonProcess()
        let events = try daemon.startClient(["events", "door"])
        let client = try daemon.connect()
        try await eventually("it has subscribed") {
            try await client.ask("call?cmd=state&id=1")?.contains("door") ?? false
        }
        _ = try await client.ask("call?cmd=post&msg=%5B%22door%22%2C1%5D&id=2")
        try await eventually("the event is printed") { events.outputSize > 0 }
        #expect(String(decoding: events.standardOutput, as: UTF8.self) == "{\"event\":\"door\",\"data\":1}\n")
        events.send(SIGINT)
        #expect(try await events.wait() == .status(0))
    }

    @Test func `can exits with 0 where a command is allowed, with 1 and the rule where it is not`() async throws {
        let daemon = try await DaemonProcess()
        #expect(try await daemon.client("can", "reload").exit == .status(0))
        let nobody = try await daemon.client("can", "--as", "nobody", "reload")
        #expect(nobody.exit == .status(1) && nobody.output.contains("root only"))
        let service = try daemon.startClient(["can", "--as", "quickconnect-nobody", "reload"])
        #expect(try await service.wait() == .status(1) && service.errors.contains("so ask without --as"))
    }
}
