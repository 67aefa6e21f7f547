import Conversations
import Foundation
import TestRig
import Testing

/// The clients of `clients/`, as programs use them: each scenario is written once in each language, and says the same.
@Suite(
    "The clients in other languages",
    .enabled(if: !ClientLanguage.installed.isEmpty, "neither python3 nor node is installed"),
    .timeLimit(.minutes(5))
)
struct LanguageClientTests {
    private func expect(
        _ language: ClientLanguage,
        _ scenario: String,
        says lines: [String],
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let daemon = try await DaemonProcess()
        let process = try language.start("scenarios", scenario, socket: daemon.socket)
        try await process.wait(within: .seconds(60))
        #expect(process.outputLines == lines, "\(errors(process))", sourceLocation: location)
        #expect(try await daemon.stop() == .status(0), sourceLocation: location)
    }

    private func errors(_ process: ChildProcess) -> String { String(decoding: process.standardError, as: UTF8.self) }

    @Test(arguments: ClientLanguage.installed)
    func `every conversation that does not depend on lines goes through them`(language: ClientLanguage) async throws {
        let daemon = try await DaemonProcess()
        let driver = try language.start("driver", daemon.folder("driver"), socket: daemon.socket)
        try await eventually("the driver listens: \(errors(driver))") {
            (try? SocketClient(path: daemon.folder("driver"))) != nil
        }
        for conversation in Conversation.throughClients {
            do {
                try await conversation.hold(with: DriverHost(path: daemon.folder("driver")))
            } catch {
                Issue.record("\(conversation): \(error); \(errors(driver))")
            }
        }
    }

    @Test(arguments: ClientLanguage.installed)
    func `replies are values, and errors exceptions with all that the daemon said`(language: ClientLanguage)
        async throws
    {
        try await expect(
            language,
            "calls",
            says: [
                "ping null", #"unknown ["unknownCommand","helo",["hello"]]"#, #"invalid ["invalid",["/0","/1"]]"#,
                #"too large ["tooLarge"]"#, "after null", #"closed ["connectionLost","the client is closed"]"#,
            ]
        )
    }

    @Test(arguments: ClientLanguage.installed)
    func `handlers get the call, and what they throw is the answer`(language: ClientLanguage) async throws {
        try await expect(
            language,
            "handlers",
            says: [
                "unicode true", "none null", #"one {"a":[1]}"#, "list [[1,2]]", "two [1,null]",
                #"slow [7,"slow","business",[]]"#, #"failing ["scriptFailed","out of paper","failing"]"#,
                #"refusing ["notFound","no such page","/0"]"#, #"busy ["busy"]"#, #"own "own""#,
                #"removed ["unknownCommand"]"#, #"other "other""#, #"unwritable "scriptFailed""#,
            ]
        )
    }

    @Test(arguments: ClientLanguage.installed)
    func `a handler that no call comes to is a warning`(language: ClientLanguage) async throws {
        let daemon = try await DaemonProcess()
        for scenario in ["hidden"] + (language == .python ? ["blocking_hidden"] : []) {
            let process = try language.start("scenarios", scenario, socket: daemon.socket)
            try await process.wait(within: .seconds(60))
            #expect(process.outputLines == ["ping null"])
            let warnings = errors(process).split(separator: "\n")
            #expect(warnings.count == 1)
            #expect(warnings.first?.contains("'ping' is a command of the mappings already, so no call comes") == true)
        }
    }

    @Test(arguments: ClientLanguage.installed)
    func `events come to functions and loops until they end`(language: ClientLanguage) async throws {
        try await expect(
            language,
            "events",
            says: [
                "stream [1,2,3]", #"heard [["news",1],["news",2],["news",3],["weather",{"sun":"☀"}]]"#, "after 4",
                #"denied ["denied"]"#, #"options ["invalid"]"#, "ended [1]",
            ]
        )
    }

    @Test(arguments: ClientLanguage.installed)
    func `the words value, set and post, and what is wrong with them`(language: ClientLanguage) async throws {
        try await expect(
            language,
            "words",
            says: [
                "present 0", "set [10,10,4]", "seen [0,10,4]",
                #"heard [["doorbell",{"door":"front"}],["doorbell",null]]"#,
                "added [5,4.5]", "ended 3", #"nothing ["notFound"]"#, #"command ["notFound"]"#,
                #"listened ["notFound"]"#,
                #"no value ["unknownCommand"]"#, #"unfit ["invalid"]"#,
                #"no number ["invalid"]"#, #"own ["denied"]"#,
                #"no function ["TypeError"]"#, #"on ["TypeError"]"#, #"handle ["TypeError"]"#, #"null ["TypeError"]"#,
            ] + Array(repeating: #"surplus ["TypeError"]"#, count: 2)
        )
    }

    @Test(.enabled(if: ClientLanguage.node.isInstalled, "node is not installed: its client is not tested"))
    func `options that Node's client would drop are a mistake`() async throws {
        let program = """
            const { Client, connect } = require('\(Products.root)/clients/javascript/quickconnect.js');
            const device = new Client({ socket: '/x' });
            const tried = [connect('/x'), connect({ sokcet: '/x' }), device.set('door', true, { for: '3s' }), device.post('bell', null, { for: '3s' })];
            for (const options of [1000, undefined, [], { timout: 1000 }, { timeout: '1s' }, { timeout: -1 }, { timeout: 2 ** 31 }]) {
              tried.push(device.callWith(options, 'motor', 50));
            }
            for (const each of tried) each.catch(e => console.log(e.message));
            """
        let node = try await ChildProcess.run("node", ["-e", program])
        let told = "callWith takes {timeout: milliseconds, signal: AbortSignal}, not"
        let expected = [
            "connect takes {socket: '/run/…', wait: true or milliseconds}, not '/x'",
            "connect takes {socket: '/run/…', wait: true or milliseconds}, not { sokcet: '/x' }",
            "a value with options is a call: device.call('door', true, { for: '3s' })", "post takes 2 arguments",
            "\(told) 1000", "\(told) undefined", "\(told) []", "\(told) { timout: 1000 }",
            "\(told) { timeout: '1s' }", "\(told) { timeout: -1 }", "\(told) { timeout: 2147483648 }",
        ]
        #expect(node.output == expected.map { "\($0)\n" }.joined())
    }

    @Test(.enabled(if: ClientLanguage.python.isInstalled, "python3 is not installed: its client is not tested"))
    func `without asyncio the same words wait`() async throws {
        try await expect(
            .python,
            "blocking_words",
            says: [
                "present 0", "set [10,10,4]", "seen [0,10,4]", #"heard [["doorbell",{"door":"front"}]]"#, "ended [5,3]",
                #"command ["notFound"]"#, #"listened ["notFound"]"#, #"own ["denied"]"#, #"no function ["TypeError"]"#,
                #"on ["TypeError"]"#, #"handle ["TypeError"]"#, #"null ["TypeError"]"#,
            ]
        )
    }

    @Test(.enabled(if: ClientLanguage.python.isInstalled, "python3 is not installed: its client is not tested"))
    func `of events that come while a function waits, the newest 10,000 are kept`() async throws {
        let daemon = try await DaemonProcess()
        let process = try ClientLanguage.python.start("scenarios", "blocking_slow", socket: daemon.socket)
        try await process.wait(within: hangGuard)
        #expect(process.outputLines == ["slow [10001,0,100]"])
        let warning = "99 events came while functions of on() or value() ran, and were dropped"
        #expect(errors(process).contains(warning), "\(errors(process))")
    }

    @Test(arguments: ClientLanguage.installed)
    func `a value that a daemon's restart changed is told again, and only then`(language: ClientLanguage) async throws {
        let folder = try TestFolder()
        let first = try await DaemonProcess()
        symlink(first.socket, folder("socket"))
        let process = try language.start("scenarios", "values", socket: folder("socket"))
        try await process.awaitLine("value 0")
        _ = try await first.client("call", "innerProgress", "7")
        try await process.awaitLine("value 7")
        first.process.send(SIGKILL)
        try await first.process.wait()

        let second = try await DaemonProcess()
        try folder.remove("socket")
        symlink(second.socket, folder("socket"))
        try await eventually("the value of the new daemon in \(process.outputLines), \(errors(process))") {
            process.outputLines == ["value 0", "value 7", "value 0"]
        }
        _ = try await second.client("call", "innerProgress", "3")
        try await process.awaitLine("value 3")
        #expect(process.outputLines.count == 4)
        process.send(SIGTERM)
        try await process.wait()
    }

    @Test(arguments: ClientLanguage.installed)
    func `bursts of 10,000 calls and 3,000 waiting ones are all answered, in order`(language: ClientLanguage)
        async throws
    {
        try await expect(language, "burst", says: ["replies 10000", "slow true", "most 1024"])
    }

    @Test(arguments: ClientLanguage.installed)
    func `a call that is given up is cancelled in the daemon`(language: ClientLanguage) async throws {
        try await expect(language, "cancelled", says: ["cancelled true", "timeouts 2000", "place null"])
    }

    @Test(arguments: ClientLanguage.installed)
    func `a handler that shows something ends with its caller`(language: ClientLanguage) async throws {
        try await expect(
            language,
            "ends",
            says: [
                #"ended ["cancelled",true]"#, #"answered "chosen""#, #"ended ["left",true]"#,
                #"left ["connectionLost"]"#, #"place "chosen""#,
            ]
        )
    }

    @Test(arguments: ClientLanguage.installed)
    func `a frozen daemon costs no more than the timeout, and then goes on`(language: ClientLanguage) async throws {
        let daemon = try await DaemonProcess()
        mkfifo(daemon.folder("go"), 0o600)
        let go = open(daemon.folder("go"), O_RDWR)
        defer { close(go) }
        let process = try language.start("scenarios", "frozen", socket: daemon.socket, input: daemon.folder("go"))
        try await process.awaitLine("ready null")
        daemon.process.send(SIGSTOP)
        #expect(write(go, "\n", 1) == 1)
        try await process.awaitLine(#"frozen ["timeout"]"#)
        try await process.awaitLine("many 3000")
        try await process.awaitLine("thaw null")
        daemon.process.send(SIGCONT)
        try await process.awaitLine("thawed null")
        #expect(try await process.wait() == .status(0))
    }

    @Test(arguments: ClientLanguage.installed)
    func `a daemon that is killed and started again finds its handlers and subscriptions`(language: ClientLanguage)
        async throws
    {
        let folder = try TestFolder()
        let first = try await DaemonProcess()
        symlink(first.socket, folder("socket"))
        let process = try language.start("scenarios", "reconnect", socket: folder("socket"))
        try await process.awaitLine("ready null")
        first.process.send(SIGKILL)
        try await first.process.wait()
        try await process.awaitLine(#"lost ["connectionLost","connection lost"]"#)
        try await process.awaitLine(#"meanwhile ["timeout"]"#)

        let second = try await DaemonProcess()
        try folder.remove("socket")
        symlink(second.socket, folder("socket"))
        try await process.awaitLine("later null")
        // Each call runs once: what was under way is not sent again.
        try await process.awaitLine("rings 1")
        let client = try second.connect()
        #expect(try await client.ask("call?cmd=rings&id=1") == "handleJSONRequest?cmd=rings&msg=2&id=1")
        #expect(try await client.ask("call?cmd=post&msg=%5B%22news%22%2C7%5D&id=2") != nil)
        try await process.awaitLine("news 7")
    }

    @Test(arguments: ClientLanguage.installed)
    func `without a daemon it is said where it was looked for`(language: ClientLanguage) async throws {
        let folder = try TestFolder()
        let named = try language.start("scenarios", "calls", socket: folder("nowhere"))
        try await named.wait()
        #expect(
            named.outputLines.first?.hasPrefix(#"failed ["connectionLost","no daemon answers: \#(folder.path)"#) == true
        )
        #expect(named.outputLines.first?.contains("Is the daemon of this socket running?") == true)
        let unnamed = try language.start(
            "scenarios",
            "calls",
            socket: "",
            environment: ["XDG_RUNTIME_DIR": folder.path]
        )
        try await unnamed.wait()
        // This machine may have a daemon of its own.
        guard !FileManager.default.fileExists(atPath: systemSocket) else { return }
        for path in [systemSocket, folder("quickconnect.sock")] {
            #expect(unnamed.outputLines.first?.contains(path) == true)
        }
    }

    @Test(arguments: ClientLanguage.installed)
    func `a program that is started before the daemon waits for it if it wants to`(language: ClientLanguage)
        async throws
    {
        let folder = try TestFolder()
        let scenarios = ["calls"] + (language == .python ? ["blocking_hidden"] : [])
        var waiting: [ChildProcess] = []
        for scenario in scenarios {
            let process = try language.start("scenarios", scenario, "wait", socket: folder("socket"))
            try await eventually("it says that it waits") {
                errors(process).contains("no daemon answers: \(folder("socket"))")
                    && errors(process).contains("waiting")
            }
            waiting.append(process)
        }
        let late = try language.start("scenarios", "calls", "0.3", socket: folder("socket"))
        try await late.wait()
        #expect(late.outputLines.first?.hasPrefix(#"failed ["connectionLost","no daemon answers: "#) == true)
        let daemon = try await DaemonProcess()
        symlink(daemon.socket, folder("socket"))
        for process in waiting { try await process.awaitLine("ping null") }
    }

    @Test(
        .enabled(if: !FileManager.default.fileExists(atPath: systemSocket), "this machine has a daemon of its own"),
        arguments: ClientLanguage.installed
    )
    func `the user's socket is found where the system has none`(language: ClientLanguage) async throws {
        let daemon = try await DaemonProcess()
        symlink(daemon.socket, daemon.folder("quickconnect.sock"))
        let environment = ["XDG_RUNTIME_DIR": daemon.folder.path]
        let process = try language.start("scenarios", "calls", socket: nil, environment: environment)
        try await process.wait()
        #expect(process.outputLines.first == "ping null")
    }

    @Test(.enabled(if: ClientLanguage.python.isInstalled, "python3 is not installed: its client is not tested"))
    func `without asyncio, handlers and functions that hear events may make calls`() async throws {
        try await expect(
            .python,
            "blocking",
            says: [
                "ping null", #"unknown ["unknownCommand",["hello"]]"#, "twice 42", "again [0,1,2]", "heard [0,1,2]",
                "burst true", #"timeout "timeout""#, #"dialog "timeout""#, "ended [true]", "mistake null",
                "mistake null", "mistake null", #"left ["ConnectionLost"]"#,
                #"closed "connectionLost""#,
            ]
        )
    }

    @Test(.enabled(if: ClientLanguage.node.isInstalled, "node is not installed: its client is not tested"))
    func `a module imports the Node client, too`() async throws {
        let daemon = try await DaemonProcess()
        try daemon.folder.write(
            """
            import { connect } from '\(Products.root)/clients/javascript/quickconnect.js';
            const device = await connect({ socket: '\(daemon.socket)' });
            console.log(await device.call('ping'));
            device.close();
            """,
            to: "program.mjs"
        )
        #expect(try await ChildProcess.run("node", [daemon.folder("program.mjs")]).output == "null\n")
    }
}

private let systemSocket = "/run/quickconnect/quickconnect.sock"

/// A driver's clients in place of the daemon's.
private struct DriverHost: ConversationHost {
    let path: String

    func connect() throws -> any ConversationClient { try SocketClient(path: path) }
}
