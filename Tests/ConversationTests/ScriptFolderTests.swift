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
            ],
            daemon: daemon
        )
        let talker = try daemon.talker()
        try await talker.awaitScript("lamp.js", "running")
        try await talker.awaitScript("once.js", "ended")
        try await talker.awaitScript("bad.js", "failed")
        try await talker.awaitCommand("lamp")
        #expect(try await talker.value("lamp", []) == .null)
        try await eventually("the counts are told") {
            let lamp = try await talker.script("lamp.js")
            return lamp["calls"] == 1 && lamp["answers"] == 1
        }
        let lamp = try await talker.script("lamp.js")
        #expect((lamp["memoryBytes"]?.integerValue ?? 0) > 10 << 20)
        #expect((lamp["cpuSeconds"]?.numberValue ?? 0) > 0)
        let table = try await daemon.client("scripts")
        #expect(table.exit == .status(0))
        #expect(table.output.contains("lamp.js  running") && table.output.contains("bad.js:1: SyntaxError"))
        #expect(table.output.contains("limits: 1 s of CPU time"))
        #expect(!table.output.contains("hidden") && !table.output.contains("notes"))
        #expect(try await daemon.client("scripts", "--json").output.hasPrefix(#"{"folder":"#))
        #expect(host.errors.contains("once.js: hello once"))
    }

    @Test func `without a host scripts is unavailable`() async throws {
        let daemon = try await DaemonProcess()
        #expect(try await daemon.client("scripts").exit == .status(1))
        #expect(try await daemon.talker().failure("scripts")["code"] == "unavailable")
    }

    @Test func `a changed script is taken up, one that does not load is told and the old one runs on`() async throws {
        let daemon = try await DaemonProcess()
        func text(_ answer: String) -> String { "WebViewJavascriptBridge.registerHandler('lamp', () => \(answer))" }
        let host = try ScriptProcess.host(["lamp.js": text("1")], daemon: daemon)
        let talker = try daemon.talker()
        try await talker.awaitCommand("lamp")
        #expect(try await talker.value("lamp", []) == 1)

        for broken in ["var x = ;", "throw new Error('at load')", "for (;;) {}"] {
            try host.put(broken, as: "lamp.js")
            try await eventually("the mistake is told") {
                let error = try await talker.script("lamp.js")["error"]?.stringValue ?? ""
                return error.contains(
                    broken.contains("throw") ? "at load" : broken.contains("for") ? "CPU time" : "Syntax"
                )
            }
            #expect(try await talker.value("lamp", []) == 1)
            #expect(try await talker.script("lamp.js")["state"] == "running")
        }
        #expect(host.errors.contains("the new text does not load, so the old one keeps running"))

        try host.put(text("2"), as: "lamp.js")
        try await eventually("the new one answers") {
            let lines = try await daemon.client("call", "lamp").output
            return lines == "2\n"
        }
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
        let talker = try daemon.talker()
        try await talker.awaitCommand("word")
        #expect(try await talker.value("word", []) == "one")
        try host.folder.write("var word = 'two'", to: "scripts/lib/words.js")
        try await eventually("the loaded file is taken up") {
            try await daemon.client("call", "word").output == "\"two\"\n"
        }
        try host.folder.remove("scripts/a.js")
        try await eventually("the script is gone") { try await talker.script("a.js").isEmpty }
        #expect(try await talker.failure("word")["code"] == "unknownCommand")
    }

    @Test func `a script that is gone for a moment comes back`() async throws {
        let daemon = try await DaemonProcess()
        let text = "WebViewJavascriptBridge.registerHandler('lamp', () => 1)"
        let host = try ScriptProcess.host(["lamp.js": text], daemon: daemon)
        let talker = try daemon.talker()
        for _ in 0..<5 {
            try await talker.awaitCommand("lamp")
            try host.folder.remove("scripts/lamp.js")
            // Some of these rounds meet the host between the two looks.
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...150)))
            try host.put(text, as: "lamp.js")
            try await talker.awaitScript("lamp.js", "running")
        }
        #expect(try await talker.value("lamp", []) == 1)
    }

    @Test func `a text that is killed before it may connect is tried no more, and the old one runs on`() async throws {
        let daemon = try await DaemonProcess()
        let host = try ScriptProcess.host(
            ["lamp.js": "WebViewJavascriptBridge.registerHandler('lamp', () => 1)"],
            daemon: daemon,
            settings: "scripts: {memoryBytes: 134217728}"
        )
        let talker = try daemon.talker()
        try await talker.awaitCommand("lamp")
        try host.put("const all = []; for (;;) all.push(new Array(1000).fill(7))", as: "lamp.js")
        try await eventually("the limit is told") { try await talker.script("lamp.js")["limit"] == "memoryBytes" }
        #expect(try await talker.value("lamp", []) == 1)
        #expect(try await talker.script("lamp.js")["state"] == "running")
    }

    @Test func `a script that fails begins again, later each time`() async throws {
        let daemon = try await DaemonProcess()
        let host = try ScriptProcess.host(
            ["bad.js": "makeCallSync('ping'); throw new Error('always')"],
            daemon: daemon
        )
        let talker = try daemon.talker()
        try await eventually("it has begun again twice") {
            try await talker.script("bad.js")["restarts"]?.integerValue ?? 0 >= 2
        }
        #expect(
            host.errors.contains("bad.js begins again in 1 s:") && host.errors.contains("bad.js begins again in 2 s:")
        )
        #expect(try await talker.script("bad.js")["error"]?.stringValue?.hasSuffix("Error: always") == true)
    }

    @Test func `a killed process heals, and a killed host leaves none`() async throws {
        let daemon = try await DaemonProcess()
        let host = try ScriptProcess.host(
            ["lamp.js": "WebViewJavascriptBridge.registerHandler('lamp', () => 1)"],
            daemon: daemon
        )
        let talker = try daemon.talker()
        try await talker.awaitCommand("lamp")
        let first = try #require(try await talker.script("lamp.js")["pid"]?.integerValue)
        kill(pid_t(first), SIGKILL)
        try await eventually("another process answers") {
            let pid = try await talker.script("lamp.js")["pid"]?.integerValue
            return pid != nil && pid != first
        }
        try await talker.awaitCommand("lamp")
        #expect(try await talker.value("lamp", []) == 1)
        #expect(try await talker.script("lamp.js")["error"]?.stringValue?.contains("signal 9") == true)

        let second = try #require(try await talker.script("lamp.js")["pid"]?.integerValue)
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
        let talker = try daemon.talker()
        try await talker.awaitCommand("lamp")
        let pid = try #require(try await talker.script("lamp.js")["pid"]?.integerValue)
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
