import Foundation
import JSON
import QuickConnect
import Synchronization
import TestRig
import Testing

/// Macros through the real host and the real daemon.
@Suite("Macros")
struct MacroTests {
    /// A daemon, a host whose macros may be called, and a client.
    static func start(
        _ macros: [String: String],
        settings: String = "{}",
        mappings: TestFolder? = nil
    ) async throws -> (daemon: DaemonProcess, host: ScriptProcess, client: SocketClient) {
        let daemon = try await DaemonProcess(mappings: mappings?.path)
        let files = Dictionary(uniqueKeysWithValues: macros.map { ("\($0).js", $1) })
        let host = try ScriptProcess.host([:], macros: files, daemon: daemon, settings: settings)
        let client = try daemon.connect()
        try await client.awaitCommand("macroFiles")
        try await client.awaitCommand("macros")
        return (daemon, host, client)
    }

    static let ring = "function(x) { setInnerProgress(getInnerProgress() + x); return getInnerProgress() }"

    @Test func `a macro moves a value, which is clamped, and each set is an event`() async throws {
        let (daemon, host, client) = try await Self.start(["add": Self.ring])
        defer { withExtendedLifetime((daemon, host)) {} }
        let listener = try daemon.connect()
        #expect(try await listener.value("subscribe", ["innerProgress"]) == .null)
        for (step, result) in [(4.0, 4.0), (50, 10), (-99, 0)] {
            #expect(try await client.value("macro", ["run", "add", .number(step)]).numberValue == result)
            #expect(try await listener.nextReply()?.value.numberValue == result)
        }
        let output = try await daemon.client("macro", "run", "add", "3").output
        #expect(output == "3\n")
    }

    @Test func `macros call each other by name, and a global outlives the edit of a third`() async throws {
        let (daemon, host, client) = try await Self.start([
            "twice": "async x => 2 * await once(x)",
            "once": "x => { counter = (globalThis.counter ?? 0) + 1; return x }",
            "third": "() => 1",
        ])
        defer { withExtendedLifetime((daemon, host)) {} }
        #expect(try await client.value("macro", ["run", "twice", 4]) == 8)
        try host.putMacro("() => [counter, 2]", as: "third")
        try await eventually("the third is another one") {
            try await client.value("macro", ["run", "third"]) == [1, 2]
        }
        #expect(try await client.value("macro", ["save", "fourth", "() => ++counter"]).objectValue?["version"] == 1)
        #expect(try await client.value("macro", ["run", "fourth"]) == 2)
        for name in ["makeCall", "__proto__", "setInnerProgress", "class", "a-b", "../m", "9x", ""] {
            let failure = try await client.failure("macro", ["save", .string(name), "() => 1"])
            #expect(failure["code"] == "invalid", "\(name)")
        }
    }

    @Test func `a list has what was changed before it was asked for`() async throws {
        let (daemon, host, client) = try await Self.start(["first": "() => 1"])
        defer { withExtendedLifetime((daemon, host)) {} }
        func names() async throws -> [String] {
            let macros = try await client.value("macro", ["list"]).objectValue?["macros"]?.arrayValue ?? []
            return macros.compactMap { $0.objectValue?["name"]?.stringValue }
        }
        for number in 1...10 {
            try host.putMacro("() => \(number)", as: "new\(number)")
            // The host has heard of the change by now, and looks at the folder a little later.
            _ = try await client.value("scripts", [])
            #expect(try await names().contains("new\(number)"))
            try await eventually("it has looked") {
                try await client.reply("macro", ["run", "new\(number)"]).code == nil
            }
        }
    }

    @Test func `a mistake is told with its place, to the caller and as an event, and the old text stays`() async throws
    {
        let (daemon, host, client) = try await Self.start(["bad": "() => {\n  return nope.x\n}", "good": "() => 1"])
        defer { withExtendedLifetime((daemon, host)) {} }
        let listener = try daemon.connect()
        #expect(try await listener.value("subscribe", ["macroError"]) == .null)
        let thrown = try await client.failure("macro", ["run", "bad"])
        #expect(thrown["code"] == "scriptFailed" && thrown["line"] == 2 && thrown["column"] != nil)
        #expect(thrown["source"] == "  return nope.x" && thrown["macro"] == "bad")
        #expect(thrown["file"] == .string(host.folder("macros/bad.js")))
        let event = try #require(try await listener.nextReply()?.value.objectValue)
        #expect(event["title"] == "Javascript Evaluation Error" && event["macro"] == "bad" && event["line"] == 2)
        #expect(host.errors.contains("bad.js:2"))

        let invalid = try await client.failure("macro", ["check", "good", "() => {\n  var x = ;\n}"])
        #expect(invalid["code"] == "invalid" && invalid["line"] == 2 && invalid["column"] == 11)
        for text in ["", "1", "evil()", "x = 1", "function() {}()", "() => 1, 2", "function() {}[0]", "function() {"] {
            #expect(try await client.failure("macro", ["save", "new", .string(text)])["code"] == "invalid", "\(text)")
        }
        for text in [
            "function() {}", "async function f(a) {}", "x => x", "async (a, b = 1) => {}", "// c\nfunction () {}",
        ] {
            #expect(try await client.value("macro", ["check", "new", .string(text)]) == .null, "\(text)")
        }

        // By hand it is the same as by save.
        try host.putMacro("() => { return ]", as: "good")
        let told = try #require(try await listener.nextReply()?.value.objectValue)
        #expect(told["macro"] == "good" && told["line"] == 1 && told["column"] == 16)
        #expect(try await client.value("macro", ["run", "good"]) == 1)
        #expect(
            try await client.failure("macro", ["run", "goood"])["message"]?.stringValue?.contains("'good'?") == true
        )
        #expect(try await daemon.client("macro", "list").output.contains("its newest text does not run: line 1"))
        #expect(try await daemon.client("macro", "show", "good").output.contains(">  1  () => { return ]"))
    }

    @Test func `no macro takes what the runtime and the others use`() async throws {
        let replaced = """
            Array.isArray = () => true; JSON.parse = JSON.stringify = () => '{}'; Promise.prototype.then = () => {};
            Map.prototype.get = Map.prototype.has = () => undefined; Array.prototype.push = () => 0; Object.keys = () => [];
            Array.prototype[Symbol.iterator] = () => ({next: () => ({done: true})}); String.prototype.startsWith = () => true;
            Function.prototype.call = Reflect.apply = () => 0; globalThis.JSON = globalThis.Map = globalThis.Array = null;
            console.error = console.warn = () => { throw 1 }; globalThis.onerror = () => { throw 2 };
            WebViewJavascriptBridge.registerHandler = () => {}; Object.prototype.code = 'denied'; return 1
            """
        let (daemon, host, client) = try await Self.start([
            "breaks": "() => { \(replaced) }", "good": "(...values) => values",
            "own":
                "function(x) { const e = new Error(x); e.toString = () => 'own'; class A extends Array {}; return [`${e}`, new A(3).length] }",
            "late": "() => { setTimeout(() => { throw new Error('late') }, 1) }",
            "takes": "name => { window.WebViewJavascriptBridge.registerHandler(name, () => 'taken') }",
            "calls": "name => makeCall('removeHandler', [name])",
        ])
        defer { withExtendedLifetime((daemon, host)) {} }
        #expect(try await client.value("macro", ["run", "breaks"]) == 1)
        #expect(try await client.value("macro", ["run", "late"]) == .null)
        for name in ["macros", "macroFiles", "macro:good"] {
            for macro in ["takes", "calls"] {
                let failure = try await client.failure("macro", ["run", .string(macro), .string(name)])
                #expect(
                    failure["message"]?.stringValue?.contains("is a handler of the runtime itself") == true,
                    "\(failure)"
                )
            }
        }
        #expect(try await client.value("macro", ["run", "good", 1, ["a": [2]]]) == [1, ["a": [2]]])
        #expect(try await client.value("macro", ["run", "own", "x"]) == ["own", 3])
        #expect(try await client.failure("macro", ["check", "x", "() => ]"])["code"] == "invalid")
        #expect(try await client.failure("macro", ["run", "nobody"])["code"] == "notFound")
        #expect(
            try await client.value("macro", ["save", "added", "() => [1].map(x => x + 1)"]).objectValue?["version"] == 1
        )
        #expect(try await client.value("macro", ["run", "added"]) == [2])
        #expect(try await client.script("macros")["restarts"] == 0)
    }

    @Test func `a damaged version is told, and the others stay`() async throws {
        let (daemon, host, client) = try await Self.start([:])
        defer { withExtendedLifetime((daemon, host)) {} }
        for number in 1...3 {
            #expect(
                try await client.value("macro", ["save", "m", .string("() => \(number)")]).objectValue?["version"]
                    != nil
            )
        }
        let folder = "state/macro-versions/m"
        try host.folder.write("{\"version\": 2, \"te", to: "\(folder)/2.json")
        try host.folder.write("", to: "\(folder)/3.json")
        let history = try await client.value("macro", ["history", "m"]).arrayValue ?? []
        #expect(history.count == 3 && history.last?.objectValue?["text"] == "() => 1")
        for one in history.prefix(2) {
            #expect(one.objectValue?["damaged"]?.stringValue?.contains("is damaged") == true, "\(one)")
        }
        let damaged = try await client.value("macro", ["show", "m"]).objectValue?["damaged"]?.arrayValue ?? []
        #expect(damaged.count == 1 && damaged[0].stringValue?.contains("3.json is empty") == true, "\(damaged)")
        #expect(host.errors.contains("version 3 of 'm' is damaged"))
        #expect(try await client.failure("macro", ["revert", "m", 2])["code"] == "unavailable")
        #expect(try await client.value("macro", ["revert", "m", 1]).objectValue?["version"] == 4)
        #expect(try await client.value("macro", ["run", "m"]) == 1)
    }

    @Test func `what a value refuses is the macro's error`() async throws {
        let (daemon, host, client) = try await Self.start([
            "text": "() => setInnerProgress('x')", "nan": "() => setInnerProgress(NaN)", "own": "() => { own = 1 }",
            "over": "() => { 'use strict'; text = 5 }",
        ])
        defer { withExtendedLifetime((daemon, host)) {} }
        for name in ["text", "nan", "own", "over"] {
            let failure = try await client.failure("macro", ["run", .string(name)])
            #expect(failure["code"] == "scriptFailed" && failure["macro"] == .string(name), "\(failure)")
        }
        #expect(try await client.value("innerProgress", []) == 0)
    }

    @Test func `what cannot be answered is the macro's error, and told, however large it is`() async throws {
        let (daemon, host, client) = try await Self.start([
            "cycle": "() => { const a = {}; a.a = a; return a }", "big": "() => 'x'.repeat(5e6)",
            "deep": "() => JSON.parse('['.repeat(600) + ']'.repeat(600))",
            "late": "async () => { await 0; return {toJSON() { nope() }} }",
            "then": "() => ({get then() { throw new Error('no then') }})",
            "loud": "() => { throw new Error('x'.repeat(5e6)) }", "good": "() => 1",
        ])
        defer { withExtendedLifetime((daemon, host)) {} }
        let listener = try daemon.connect()
        #expect(try await listener.value("subscribe", ["macroError"]) == .null)
        for (name, code, message) in [
            ("cycle", "scriptFailed", "cyclic"), ("big", "tooLarge", "longer than"),
            ("deep", "tooLarge", "inside each"),
            ("late", "scriptFailed", "nope"), ("then", "scriptFailed", "no then"), ("loud", "scriptFailed", "xxx"),
        ] {
            let failure = try await client.failure("macro", ["run", .string(name)])
            #expect(failure["code"] == .string(code) && failure["macro"] == .string(name), "\(name): \(failure)")
            let text = failure["message"]?.stringValue ?? ""
            #expect(text.contains(message) && text.utf8.count < 4096, "\(name): \(text)")
            let event = try #require(try await listener.nextReply()?.value.objectValue)
            let told = event["message"]?.stringValue ?? ""
            #expect(event["macro"] == .string(name) && told.contains(message) && told.utf8.count < 4096, "\(name)")
        }
        #expect(try await client.value("macro", ["run", "good"]) == 1)
    }

    @Test(arguments: ["() => { for (;;) {} }", "async () => { for (;;) await 0 }"])
    func `an endless macro is ended, the others run again at once, and it is told`(text: String) async throws {
        let (daemon, host, client) = try await Self.start(
            ["endless": text, "good": "() => 1"],
            settings: "scripts: {cpuTime: 300ms}"
        )
        defer { withExtendedLifetime((daemon, host)) {} }
        let listener = try daemon.connect()
        #expect(try await listener.value("subscribe", ["macroError"]) == .null)
        #expect(try await client.failure("macro", ["run", "endless"])["code"] == "scriptFailed")
        let event = try #require(try await listener.nextReply()?.value.objectValue)
        #expect(event["macro"] == "endless" && event["globalsLost"] == true)
        #expect(event["message"]?.stringValue?.contains("globals are lost") == true)
        try await eventually("the others run again") { try await client.reply("macro", ["run", "good"]).value == 1 }
    }

    @Test func `a macro that waits too long gives its caller timeout, is told, and keeps its globals`() async throws {
        let (daemon, host, client) = try await Self.start(
            ["waits": "() => { kept = 7; return new Promise(() => {}) }", "kept7": "() => kept"],
            settings: "scripts: {handlerTime: 300ms}"
        )
        defer { withExtendedLifetime((daemon, host)) {} }
        let listener = try daemon.connect()
        #expect(try await listener.value("subscribe", ["macroError"]) == .null)
        #expect(try await client.failure("macro", ["run", "waits"])["code"] == "timeout")
        let event = try #require(try await listener.nextReply()?.value.objectValue)
        #expect(event["macro"] == "waits" && event["globalsLost"] == nil)
        #expect(try await client.value("macro", ["run", "kept7"]) == 7)
    }

    @Test(
        .enabled(if: !ScriptProcess.Disk.possible.isEmpty, "neither tmpfs nor prlimit can be had here"),
        arguments: ScriptProcess.Disk.possible
    )
    func `a disk that is full in the middle of a save leaves the old text, and nothing half`(disk: ScriptProcess.Disk)
        async throws
    {
        let daemon = try await DaemonProcess()
        let host = try ScriptProcess.host([:], daemon: daemon, disk: disk)
        defer { withExtendedLifetime(host) {} }
        let client = try daemon.connect()
        for name in ["macroFiles", "macros"] { try await client.awaitCommand(name) }
        func text(_ kilobytes: Int) -> JSONValue {
            .string("() => \(kilobytes) /*\(String(repeating: "x", count: kilobytes << 10))*/")
        }
        #expect(try await client.value("macro", ["save", "m", text(1)]).objectValue?["version"] == 1)
        // On the small disk the last but one fits once, as a version, and not twice.
        for kilobytes in [60, 30, 9] where disk == .shortFiles || kilobytes > 9 {
            let failure = try await client.failure("macro", ["save", "m", text(kilobytes)])
            #expect(failure["code"] == "unavailable", "\(kilobytes) KiB: \(failure)")
            let message = failure["message"]?.stringValue ?? ""
            #expect(message.contains(disk == .small ? "No space left" : "File too large"), "\(message)")
            #expect(try await client.value("macro", ["run", "m"]) == 1)
        }
        #expect(try await client.value("macro", ["show", "m"]).objectValue?["text"] == text(1))
        #expect(try await client.value("macro", ["history", "m"]).arrayValue?.count == 1)
        // What failed takes no room.
        let size = disk == .small ? 12 : 7
        #expect(try await client.value("macro", ["save", "m", text(size)]).objectValue?["version"] == 2)
        #expect(try await client.value("macro", ["run", "m"]) == .integer(Int64(size)))
        // The editor's text is not lost either.
        let folder = try TestFolder()
        try folder.write("printf '() => 0 /*%40000s*/' x > \"$1\"", to: "editor")
        let edited = try await Self.edit("m", "sh \(folder("editor"))", daemon, folder)
        #expect(edited.exit == .status(1))
        let kept = try folder.names().filter { $0.hasPrefix("macro-") }.map { folder.size("\($0)/m.js") }
        #expect(kept == [40_012])
        #expect(try await client.value("macro", ["run", "m"]) == .integer(Int64(size)))
    }

    @Test func `what cannot be written to saves nothing, and says so`() async throws {
        let (daemon, host, client) = try await Self.start([:])
        defer { withExtendedLifetime((daemon, host)) {} }
        _ = try await client.value("macro", ["save", "m", "() => 1"])
        // What cannot be written to, also by root.
        try host.folder.remove("state/macros/m.js")
        try host.folder.remove("state/macros")
        try host.folder.write("no folder", to: "state/macros")
        let failure = try await client.failure("macro", ["save", "n", "() => 2"])
        #expect(failure["code"] == "unavailable")
        #expect(try await client.reply("macro", ["history", "n"]).code == "notFound")
        #expect(!host.folder.exists("state/macro-versions/n/1.json"))
    }

    @Test func `a killed process runs macros again, and values are as they were`() async throws {
        let (daemon, host, client) = try await Self.start(["add": Self.ring])
        defer { withExtendedLifetime((daemon, host)) {} }
        #expect(try await client.value("macro", ["run", "add", 3]) == 3)
        let pid = try #require(try await client.script("macros")["pid"]?.integerValue)
        kill(pid_t(pid), SIGKILL)
        let start = ContinuousClock.now
        try await eventually("macros run again") { try await client.reply("macro", ["run", "add", 1]).value == 4 }
        print("macros ran again after \(ContinuousClock.now - start)")
    }

    @Test func `the second of two who save with the same base gets both numbers, and every version is kept`()
        async throws
    {
        let (daemon, host, client) = try await Self.start([:])
        defer { withExtendedLifetime((daemon, host)) {} }
        #expect(try await client.value("macro", ["save", "m", "() => 1", ["base": 0]]).objectValue?["version"] == 1)
        #expect(try await client.value("macro", ["save", "m", "() => 2", ["base": 1]]).objectValue?["version"] == 2)
        let busy = try await client.failure("macro", ["save", "m", "() => 3", ["base": 1]])
        #expect(busy["code"] == "busy" && busy["base"] == 1 && busy["version"] == 2)
        #expect(try await client.value("macro", ["run", "m"]) == 2)
        #expect(try await client.value("macro", ["revert", "m"]).objectValue?["version"] == 3)
        #expect(try await client.value("macro", ["run", "m"]) == 1)
        #expect(try await client.failure("macro", ["revert", "m", 9])["code"] == "notFound")
        for number in 0..<60 { _ = try await client.value("macro", ["save", "m", .string("() => 'n\(number)'")]) }
        let history = try await client.value("macro", ["history", "m"]).arrayValue ?? []
        #expect(history.count == 50 && history.first?.objectValue?["version"] == 63)
        #expect(history.first?.objectValue?["caller"]?.objectValue?["uid"] == .integer(Int64(geteuid())))
        let shown = try await daemon.client("macro", "history", "m", "--diff")
        #expect(shown.output.contains("    - () => 'n58'\n    + () => 'n59'\n"))
    }

    @Test func `the owner's file counts before what was saved, and is not written to`() async throws {
        let (daemon, host, client) = try await Self.start(["mine": "() => 'mine'", "9lives": "() => 1"])
        defer { withExtendedLifetime((daemon, host)) {} }
        #expect(try await client.value("macro", ["save", "other", "() => 'saved'"]).objectValue?["version"] == 1)
        #expect(try await client.failure("macro", ["save", "mine", "() => 2"])["code"] == "unsupported")
        let reserved = try await client.failure("macro", ["save", "eval", "() => 2"])["message"]
        #expect(reserved == "'eval' is a reserved word of JavaScript: choose another name")
        try host.putMacro("() => 'owner'", as: "other")
        try await eventually("the owner's runs") { try await client.value("macro", ["run", "other"]) == "owner" }
        let list = try await client.value("macro", ["list"]).objectValue ?? [:]
        let other = (list["macros"]?.arrayValue ?? []).compactMap(\.objectValue).first { $0["name"] == "other" }
        #expect(other?["from"] == "configuration" && other?["shadows"]?.arrayValue?.count == 1)
        #expect(list["problems"]?.arrayValue?.count == 2)
        try await host.awaitErrors("'9lives' is not a JavaScript name")
        try host.folder.remove("macros/other.js")
        try await eventually("what was saved runs again") {
            try await client.value("macro", ["run", "other"]) == "saved"
        }
        try host.folder.remove("macros/mine.js")
        try await eventually("it is gone") { try await client.reply("macro", ["run", "mine"]).code == "notFound" }
    }

    @Test func `who may save is the mapping's, and a handler is no second door`() async throws {
        let mappings = try TestFolder.mappings(
            "button: {business: [\"script:macro:add\"]}\nmacro: {verbs: {run: {users: []}}}"
        )
        let (daemon, host, client) = try await Self.start(["add": Self.ring], mappings: mappings)
        defer { withExtendedLifetime((daemon, host)) {} }
        let stranger = try daemon.stranger()
        #expect(try await stranger.reply("macro", ["list"]).code == nil)
        for verb in ["run", "save", "revert"] {
            #expect(try await stranger.reply("macro", [.string(verb), "add", "() => 1"]).code == "denied", "\(verb)")
        }
        #expect(try await stranger.reply("button", [2]).value == 2)
        #expect(try await stranger.reply("macros", ["run", "add", 1]).code != nil)
        #expect(try await stranger.reply("macroFiles", ["save", "add", "() => 1"]).code != nil)
        #expect(try await client.value("macro", ["run", "add", 1]) == 3)
        let (otherDaemon, second, caller) = try await Self.start(["add": Self.ring])
        defer { withExtendedLifetime((otherDaemon, second)) {} }
        defer { withExtendedLifetime(second) {} }
        #expect(try await caller.failure("macro:add", [1])["code"] == "denied")
    }

    @Test func `edits under load lose no call and no global`() async throws { try await Self.edit(100) }

    @Test(.slow) func `a thousand edits under load lose no call`() async throws { try await Self.edit(1000) }

    private static func edit(_ edits: Int) async throws {
        let (daemon, host, client) = try await Self.start(["count": "() => counter = (globalThis.counter ?? 0) + 1"])
        defer { withExtendedLifetime((daemon, host)) {} }
        #expect(try await client.value("macro", ["save", "live", "() => [0, count()]"]).objectValue?["version"] == 1)
        let caller = try daemon.connect()
        let isDone = Atomic(false)
        async let calls = Self.load(caller, until: isDone)
        for edit in 1...edits {
            _ = try await client.value("macro", ["save", "live", .string("() => [\(edit), count()]")])
            guard edit % 100 == 0 else { continue }
            // The next run is that of the new text.
            let value = try await client.value("macro", ["run", "live"])
            #expect(value.arrayValue?.first == .integer(Int64(edit)))
        }
        isDone.store(true, ordering: .relaxed)
        let results = try await calls
        let texts = results.compactMap { $0.arrayValue?.first?.integerValue }
        let counts = Set(results.compactMap { $0.arrayValue?.last?.integerValue })
        #expect(
            texts.count == results.count && texts == texts.sorted() && Set(texts).count > edits / 10,
            "\(Set(texts).count)"
        )
        #expect(counts.count == results.count)
        let total = try await client.value("macro", ["run", "count"])
        #expect(total == .integer(Int64(results.count + edits / 100 + 1)))
    }

    /// Runs the macro `live` again and again, many times at once, and gives what each run answers.
    private static func load(_ caller: SocketClient, until isDone: borrowing Atomic<Bool>) async throws -> [JSONValue] {
        var results: [JSONValue] = []
        var sent = 0
        while !isDone.load(ordering: .relaxed) || results.count < sent {
            while sent < results.count + 20, !isDone.load(ordering: .relaxed) {
                caller.send("call?cmd=macro&id=\(sent)&msg=%5B%22run%22,%22live%22%5D")
                sent += 1
            }
            guard let reply = try await caller.nextReply() else { break }
            #expect(reply.code == nil && reply.id == "\(results.count)", "\(reply)")
            results.append(reply.value)
        }
        return results
    }

    @Test func `a trace tells each call, and a reload gives new values their accessors`() async throws {
        let mappings = try TestFolder.mappings("{}")
        let (daemon, host, client) = try await Self.start(
            [
                "traced": "async () => { setInnerProgress(3); await makeCall('ping'); return getInnerProgress() }",
                "late": "() => typeof setBrandNew === 'function' ? setBrandNew(5) : 0",
            ],
            mappings: mappings
        )
        defer { withExtendedLifetime((daemon, host)) {} }
        let trace = try await client.value("macro", ["trace", "traced"]).objectValue ?? [:]
        let calls = (trace["calls"]?.arrayValue ?? []).compactMap(\.objectValue)
        #expect(trace["value"] == 3 && calls.map { $0["command"] } == ["innerProgress", "ping", "innerProgress"])
        #expect(calls.first?["arguments"] == [3] && calls.first?["milliseconds"]?.numberValue ?? 0 > 0)
        #expect(try await client.value("macro", ["run", "late"]) == 0)
        try "brandNew: {value: {type: number}}".write(toFile: mappings("zzz.yaml"), atomically: true, encoding: .utf8)
        _ = try await client.value("reload", [])
        try await eventually("the accessor is there") { try await client.value("macro", ["run", "late"]) == 5 }
    }

    @Test func `an editor comes back with the mistake, and saves with the base it began with`() async throws {
        let (daemon, host, client) = try await Self.start([:])
        defer { withExtendedLifetime((daemon, host)) {} }
        _ = try await client.value("macro", ["save", "m", "() => 1\n"])
        let folder = try TestFolder()
        // The first time it makes a mistake, the second time it mends it and keeps what it saw.
        try folder.write(
            """
            cp "$1" "$DIR/seen"
            if grep -q '^//!' "$1"; then printf '() => 2\\n' > "$1"; else printf '() => { ]\\n' > "$1"; fi
            """,
            to: "editor"
        )
        func edit(_ editor: String) async throws -> (exit: ChildProcess.Exit, output: String) {
            try await Self.edit("m", editor, daemon, folder)
        }
        let edited = try await edit("sh \(folder("editor"))")
        #expect(edited.exit == .status(0) && edited.output == "m is version 2 now.\n", "\(edited)")
        let seen = String(decoding: try folder.data("seen"), as: UTF8.self)
        #expect(seen.hasPrefix("//! line 1 below these: ") && seen.hasSuffix("\n() => { ]\n"), "\(seen)")
        #expect(try await edit("true").output == "Nothing was changed.\n")
        #expect(try await edit("false").exit == .status(1))
        #expect(try folder.names().filter { $0.hasPrefix("macro-") }.isEmpty)
        try folder.write(
            "quickconnect=\(Products.path("quickconnect"))\n$quickconnect call macro save m '() => 7' >&2\necho '() => 8' > \"$1\"\n",
            to: "editor"
        )
        #expect(try await edit("sh \(folder("editor"))").exit == .status(1))
        #expect(try await client.value("macro", ["run", "m"]) == 7)
    }

    @Test func `a file that vanishes in the middle of an edit loses nothing`() async throws {
        let (daemon, host, client) = try await Self.start([:])
        defer { withExtendedLifetime((daemon, host)) {} }
        _ = try await client.value("macro", ["save", "m", "() => 1\n"])
        let folder = try TestFolder()
        // What the host has saved vanishes.
        try folder.write("rm \(host.folder("state/macros/m.js")); echo '() => 2' > \"$1\"", to: "editor")
        #expect(try await Self.edit("m", "sh \(folder("editor"))", daemon, folder).output == "m is version 2 now.\n")
        #expect(try await client.value("macro", ["run", "m"]) == 2)
        #expect(try await client.value("macro", ["history", "m"]).arrayValue?.count == 2)
        // The editor's own file vanishes.
        try folder.write("rm \"$1\"", to: "editor")
        #expect(try await Self.edit("m", "sh \(folder("editor"))", daemon, folder).exit == .status(1))
        #expect(try await client.value("macro", ["run", "m"]) == 2)
        // The owner's file comes and goes while it runs: it is one of the texts, or none.
        let caller = try daemon.connect()
        try host.putMacro("() => 0", as: "owners")
        for number in 1...100 {
            try host.putMacro("() => \(number)", as: "owners")
            caller.send("call?cmd=macro&id=1&msg=%5B%22run%22,%22owners%22%5D")
            try host.folder.remove("macros/owners.js")
            let reply = try #require(try await caller.nextReply())
            #expect(reply.code == "notFound" || (0...100).contains(reply.value.integerValue ?? -1), "\(reply)")
        }
        try host.putMacro("() => 'last'", as: "owners")
        try await eventually("the last text runs") {
            try await client.reply("macro", ["run", "owners"]).value == "last"
        }
        #expect(try await client.script("macros")["restarts"] == 0)
    }

    @Test func `what one macro does to another's name is undone by the next edit, and running it needs no name`()
        async throws
    {
        let (daemon, host, client) = try await Self.start([
            "good": "() => 1", "calls": "() => good()",
            "tampers": "() => { delete globalThis.good; Object.defineProperty = 5; Function.prototype.apply = null }",
        ])
        defer { withExtendedLifetime((daemon, host)) {} }
        #expect(try await client.value("macro", ["run", "calls"]) == 1)
        #expect(try await client.value("macro", ["run", "tampers"]) == .null)
        #expect(try await client.failure("macro", ["run", "calls"])["code"] == "scriptFailed")
        #expect(try await client.value("macro", ["run", "good"]) == 1)
        try host.putMacro("() => 2", as: "good")
        try await eventually("the name is back") { try await client.reply("macro", ["run", "calls"]).value == 2 }
    }

    /// `quickconnect macro edit` with an editor, which finds `folder` as `$DIR`.
    private static func edit(
        _ name: String,
        _ editor: String,
        _ daemon: DaemonProcess,
        _ folder: TestFolder
    ) async throws -> (exit: ChildProcess.Exit, output: String) {
        try await ChildProcess.run(
            Products.path("quickconnect"),
            ["macro", "edit", name],
            environment: [
                "PATH": "/usr/bin:/bin", "QUICKCONNECT_SOCKET": daemon.socket, "EDITOR": editor, "DIR": folder.path,
                "TMPDIR": folder.path,
            ]
        )
    }
}

extension ScriptProcess {
    /// Changes a macro of the owner's as an editor does.
    func putMacro(_ text: String, as name: String) throws {
        try folder.write(text, to: "macros/.\(name).new")
        rename(folder("macros/.\(name).new"), folder("macros/\(name).js"))
    }
}
