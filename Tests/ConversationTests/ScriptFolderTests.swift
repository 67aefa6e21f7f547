import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("The folder of scripts")
struct ScriptFolderTests {
    @Test func `each script runs in a process of its own, and quickconnect scripts lists them`() async throws {
        let daemon = try await DaemonProcess()
        let host = try ScriptProcess.host(
            [
                "lamp.js": "WebViewJavascriptBridge.registerHandler('lamp', () => makeCall('ping'))",
                "once.js": "console.log('hello once')",
                "bad.js": "var x = ;", "notes.txt": "no script", ".hidden.js": "console.log('hidden')",
                "Bell.JS": "", "door.jss": "", "door.js.txt": "", "lamp.js~": "", "doors.json": "[]",
            ],
            daemon: daemon
        )
        let client = try daemon.connect()
        try await client.awaitScript("lamp.js", "running")
        try await client.awaitScript("once.js", "ended")
        try await client.awaitScript("bad.js", "failed")
        try await client.awaitCommand("lamp")
        #expect(try await client.value("lamp", []) == .null)
        try await eventually("the counts are told") {
            let lamp = try await client.script("lamp.js")
            return lamp["calls"] == 1 && lamp["answers"] == 1
        }
        let lamp = try await client.script("lamp.js")
        #expect((lamp["memoryBytes"]?.integerValue ?? 0) > 10 << 20)
        // A release build needs less than a tick of the clock for one call.
        try await eventually("its CPU time is told") {
            for _ in 0..<100 { _ = try await client.value("lamp", []) }
            return try await client.script("lamp.js")["cpuSeconds"]?.numberValue ?? 0 > 0
        }
        let table = try await daemon.client("scripts")
        #expect(table.exit == .status(0))
        #expect(table.output.contains("lamp.js  running") && table.output.contains("bad.js:1: SyntaxError"))
        #expect(table.output.contains("limits: 1 s of CPU time"))
        let unread = table.output.matches(of: /(\S+) does not run: a script's name ends in .js/).map { String($0.1) }
        #expect(unread == ["Bell.JS", "door.js.txt", "door.jss"], "\(table.output)")
        #expect(!table.output.contains("hidden") && !table.output.contains("notes"))
        #expect(try await daemon.client("scripts", "--json").output.hasPrefix(#"{"folder":"#))
        try await host.awaitErrors("once.js: hello once")
    }

    @Test func `a name that is nearly an event's is told once, in the log and in quickconnect scripts`() async throws {
        let daemon = try await DaemonProcess()
        let texts = ["word.js": "on('playstate', () => {})", "book.js": "mapCommandToVCF('playstate', () => {})"]
        let host = try ScriptProcess.host(texts, daemon: daemon)
        let client = try daemon.connect()
        let told =
            "'playstate' is not an event of this device, did you mean 'playState'? Nothing comes unless a program posts it."
        for name in texts.keys {
            try await eventually("the warning is listed") { try await client.script(name)["warning"] == .string(told) }
            #expect(host.errors.matches(of: try Regex("\(name): 'playstate'")).count == 1, "\(host.errors)")
        }
        #expect(try await daemon.client("scripts").output.contains("did you mean 'playState'?"))
        try host.put("on('playState', () => {})", as: "word.js")
        try await eventually("it is mended") {
            let word = try await client.script("word.js")
            return word["state"] == "running" && word["warning"] == nil
        }
    }

    @Test func `without a host scripts is unavailable`() async throws {
        let daemon = try await DaemonProcess()
        #expect(try await daemon.client("scripts").exit == .status(1))
        #expect(try await daemon.connect().failure("scripts")["code"] == "unavailable")
    }

    @Test func `a changed script is taken up, one that does not load is told and the old one runs on`() async throws {
        let daemon = try await DaemonProcess()
        func text(_ answer: String) -> String { "WebViewJavascriptBridge.registerHandler('lamp', () => \(answer))" }
        let host = try ScriptProcess.host(["lamp.js": text("1")], daemon: daemon)
        let client = try daemon.connect()
        try await client.awaitCommand("lamp")
        #expect(try await client.value("lamp", []) == 1)

        for broken in ["var x = ;", "throw new Error('at load')", "for (;;) {}"] {
            try host.put(broken, as: "lamp.js")
            try await eventually("the mistake is told") {
                let error = try await client.script("lamp.js")["error"]?.stringValue ?? ""
                return error.contains(
                    broken.contains("throw") ? "at load" : broken.contains("for") ? "CPU time" : "Syntax"
                )
            }
            #expect(try await client.value("lamp", []) == 1)
            #expect(try await client.script("lamp.js")["state"] == "running")
        }
        try await host.awaitErrors("the new text does not load, so the old one keeps running")

        try host.put(text("2"), as: "lamp.js")
        try await eventually("the new one answers") {
            let lines = try await daemon.client("call", "lamp").output
            return lines == "2\n"
        }
        // What was wrong is mended, so nothing is told of it any more.
        let mended = try await client.script("lamp.js")
        #expect(mended["error"] == nil && mended["limit"] == nil, "\(mended)")
    }

    @Test func `one that is killed while it loads is tried again, and so is a new text`() async throws {
        let daemon = try await DaemonProcess()
        func text(_ answer: Int) -> String {
            """
            const begin = Date.now()
            while (Date.now() - begin < 500) {}
            WebViewJavascriptBridge.registerHandler('lamp', () => \(answer))
            """
        }
        let host = try ScriptProcess.host(["lamp.js": text(1)], daemon: daemon)
        let client = try daemon.connect()
        try await client.awaitScript("lamp.js", "starting")
        kill(pid_t(try #require(try await client.script("lamp.js")["pid"]?.integerValue)), SIGKILL)
        try await client.awaitScript("lamp.js", "restarting")
        try await client.awaitCommand("lamp")
        #expect(try await client.value("lamp", []) == 1)
        let running = ProcedureTests.children(of: host.process.pid)
        try host.put(text(2), as: "lamp.js")
        try await eventually("it loads") {
            let loading = ProcedureTests.children(of: host.process.pid).filter { !running.contains($0) }
            for child in loading { kill(child, SIGKILL) }
            return !loading.isEmpty
        }
        try await eventually("the new text answers") { try await daemon.client("call", "lamp").output == "2\n" }
        #expect(try await client.script("lamp.js")["state"] == "running")
    }

    @Test func `an error of the first text is told until the text is mended`() async throws {
        let daemon = try await DaemonProcess()
        let host = try ScriptProcess.host(["lamp.js": "var x = ;"], daemon: daemon)
        let client = try daemon.connect()
        try await client.awaitScript("lamp.js", "failed")
        #expect(try await client.script("lamp.js")["error"]?.stringValue?.contains("Syntax") == true)
        try host.put("WebViewJavascriptBridge.registerHandler('lamp', () => 1)", as: "lamp.js")
        try await client.awaitScript("lamp.js", "running")
        #expect(try await client.script("lamp.js")["error"] == nil)
    }

    @Test func `calls that the old text has begun are answered by it, new ones by the new text`() async throws {
        let daemon = try await DaemonProcess()
        func text(_ name: String) -> String {
            """
            WebViewJavascriptBridge.registerHandler('lamp', async data => {
                if (data[0]) await new Promise(resolve => setTimeout(resolve, 1500))
                // Its own calls still work.
                await makeCall('ping')
                return '\(name)'
            })
            """
        }
        let host = try ScriptProcess.host(["lamp.js": text("old")], daemon: daemon)
        let client = try daemon.connect()
        try await client.awaitCommand("lamp")
        let patient = try daemon.connect()
        patient.send("call?cmd=lamp&msg=true&id=1")
        // The script has begun that call when it has answered one that came later.
        #expect(try await client.value("lamp", [false]) == "old")
        try host.put(text("new"), as: "lamp.js")
        try await eventually("the new text answers") {
            try await daemon.client("call", "lamp").output == "\"new\"\n"
        }
        #expect(try await patient.next() == "handleJSONRequest?cmd=lamp&msg=%22old%22&id=1")
        #expect(try await client.value("lamp", [false]) == "new")
        let pid = try await client.script("lamp.js")["pid"]?.integerValue
        #expect(pid != nil)
        #expect(try await client.script("lamp.js")["restarts"] == 0)
    }

    @Test func `calls that the old text has made come to their end`() async throws {
        let mappings = try TestFolder.mappings("slow: {business: [\"script:slow\"], timeout: 60s}")
        let daemon = try await DaemonProcess(mappings: mappings.path)
        let slow = try daemon.connect()
        _ = try await slow.ask(#"{"handlerName":"registerHandler","data":["slow"],"callbackId":"r"}"#)
        let host = try ScriptProcess.host(
            [
                "lamp.js": """
                makeCall('slow').then(() => makeCall('logMessage', 'the old one heard'))
                setInterval(() => {}, 1000)
                """
            ],
            daemon: daemon
        )
        let call = try #require(try await slow.nextMessage())
        try host.put("WebViewJavascriptBridge.registerHandler('lamp', () => 'new')", as: "lamp.js")
        let client = try daemon.connect()
        try await client.awaitCommand("lamp")
        slow.send(JSONValue.object(["responseId": call["callbackId"] ?? .null, "responseData": 1]).text)
        try await eventually("the old text goes on with the reply") { daemon.log.contains("the old one heard") }
    }

    @Test func `an old text that does not answer makes room when its time is over`() async throws {
        let daemon = try await DaemonProcess()
        let host = try ScriptProcess.host(
            ["lamp.js": "WebViewJavascriptBridge.registerHandler('lamp', (data, respond) => console.log('begun'))"],
            daemon: daemon,
            settings: "scripts: {handlerTime: 1s}"
        )
        let client = try daemon.connect()
        try await client.awaitCommand("lamp")
        let old = try #require(try await client.script("lamp.js")["pid"]?.integerValue)
        async let failure = daemon.connect().failure("lamp")
        try await host.awaitErrors("lamp.js: begun")
        try host.put("WebViewJavascriptBridge.registerHandler('lamp', () => 'new')", as: "lamp.js")
        try await eventually("the new text answers") {
            try await daemon.client("call", "lamp").output == "\"new\"\n"
        }
        let code = try await failure["code"]
        #expect(code == "timeout" || code == "unknownCommand")
        try await eventually("the old process has ended") { kill(pid_t(old), 0) != 0 }
    }

    @Test func `scripts come and go, and a file that one has loaded counts too`() async throws {
        let daemon = try await DaemonProcess()
        let host = try ScriptProcess.host([:], daemon: daemon)
        try FileManager.default.createDirectory(
            atPath: host.folder("scripts/lib"),
            withIntermediateDirectories: true
        )
        try host.folder.write("var word = 'one'", to: "scripts/lib/words.js")
        try host.put("load('lib/words.js'); WebViewJavascriptBridge.registerHandler('word', () => word)", as: "a.js")
        let client = try daemon.connect()
        try await client.awaitCommand("word")
        #expect(try await client.value("word", []) == "one")
        try host.folder.write("var word = 'two'", to: "scripts/lib/words.js")
        try await eventually("the loaded file is taken up") {
            try await daemon.client("call", "word").output == "\"two\"\n"
        }
        try host.folder.remove("scripts/a.js")
        try await eventually("the script is gone") { try await client.script("a.js").isEmpty }
        try await eventually("so is its command") { try await client.reply("word", []).code == "unknownCommand" }
    }

    @Test func `a script that is gone for a moment comes back`() async throws {
        let daemon = try await DaemonProcess()
        let text = "WebViewJavascriptBridge.registerHandler('lamp', () => 1)"
        let host = try ScriptProcess.host(["lamp.js": text], daemon: daemon)
        let client = try daemon.connect()
        // Some of these rounds meet the host between two looks at the folder, which are 50 ms apart.
        for pause in [0, 20, 45, 55, 100, 150] {
            try await client.awaitCommand("lamp")
            try host.folder.remove("scripts/lamp.js")
            // Sleeps for less than a look takes, or more: whichever it is, the script comes back.
            try await Task.sleep(for: .milliseconds(pause))
            try host.put(text, as: "lamp.js")
            try await client.awaitScript("lamp.js", "running")
        }
        // A script runs before it has registered its handlers, and those of the one before may still be there.
        try await eventually("it answers") { try await client.reply("lamp", []).value == 1 }
    }

    @Test func `a text that is killed before it may connect is tried no more, and the old one runs on`() async throws {
        let daemon = try await DaemonProcess()
        let host = try ScriptProcess.host(
            ["lamp.js": "WebViewJavascriptBridge.registerHandler('lamp', () => 1)"],
            daemon: daemon,
            settings: "scripts: {memoryBytes: 134217728}"
        )
        let client = try daemon.connect()
        try await client.awaitCommand("lamp")
        try host.put("const all = []; for (;;) all.push(new Array(1000).fill(7))", as: "lamp.js")
        try await eventually("the limit is told") { try await client.script("lamp.js")["limit"] == "memoryBytes" }
        #expect(try await client.value("lamp", []) == 1)
        #expect(try await client.script("lamp.js")["state"] == "running")
    }

    @Test func `a script that fails restarts, later each time`() async throws {
        let daemon = try await DaemonProcess()
        let host = try ScriptProcess.host(
            ["bad.js": "makeCallSync('ping'); throw new Error('always')"],
            daemon: daemon
        )
        let client = try daemon.connect()
        try await eventually("it has begun again twice") {
            try await client.script("bad.js")["restarts"]?.integerValue ?? 0 >= 2
        }
        #expect(
            host.errors.contains("bad.js restarts in 1 s:") && host.errors.contains("bad.js restarts in 2 s:")
        )
        #expect(try await client.script("bad.js")["error"]?.stringValue?.hasSuffix("Error: always") == true)
    }

    @Test func `a killed process heals, and a killed host leaves none`() async throws {
        let daemon = try await DaemonProcess()
        let host = try ScriptProcess.host(
            ["lamp.js": "WebViewJavascriptBridge.registerHandler('lamp', () => 1)"],
            daemon: daemon
        )
        let client = try daemon.connect()
        try await client.awaitCommand("lamp")
        let first = try #require(try await client.script("lamp.js")["pid"]?.integerValue)
        kill(pid_t(first), SIGKILL)
        try await eventually("another process answers") {
            let pid = try await client.script("lamp.js")["pid"]?.integerValue
            return pid != nil && pid != first
        }
        // The daemon may not know yet that the killed one is gone.
        try await eventually("it answers") { try await client.reply("lamp", []).value == 1 }
        #expect(try await client.script("lamp.js")["error"]?.stringValue?.contains("signal 9") == true)

        let second = try #require(try await client.script("lamp.js")["pid"]?.integerValue)
        host.process.send(SIGKILL)
        try await host.process.wait()
        try await eventually("its process is gone") { kill(pid_t(second), 0) != 0 }
    }

    @Test func `it ends with all its scripts when asked`() async throws {
        let daemon = try await DaemonProcess()
        let host = try ScriptProcess.host(
            ["lamp.js": "WebViewJavascriptBridge.registerHandler('lamp', () => 1); setInterval(() => {}, 1)"],
            daemon: daemon
        )
        let client = try daemon.connect()
        try await client.awaitCommand("lamp")
        let pid = try #require(try await client.script("lamp.js")["pid"]?.integerValue)
        host.process.send(SIGTERM)
        #expect(try await host.process.wait() == .status(0))
        #expect(kill(pid_t(pid), 0) != 0)
    }

    @Test func `it waits for its folder, and for the daemon`() async throws {
        let folder = try TestFolder()
        let missing = try await ChildProcess.run(
            Products.path("quickconnect-scripts"),
            ["--scripts", folder("none")],
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path]
        )
        #expect(missing.exit == .status(2))
    }
}
