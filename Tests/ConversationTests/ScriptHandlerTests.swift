import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("Commands that scripts answer")
struct ScriptHandlerTests {
    @Test func `a handler is a command: quickconnect call brighten 3`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            let level = 0
            WebViewJavascriptBridge.registerHandler('brighten', data => level += data[0])
            WebViewJavascriptBridge.registerHandler('later', (data, responseCallback) => {
                setTimeout(() => responseCallback({got: data}), 10)
            })
            WebViewJavascriptBridge.registerHandler('promise', async data => { await 0; return [data] })
            WebViewJavascriptBridge.registerHandler('nothing', data => {})
            WebViewJavascriptBridge.registerHandler('place', async () => (await makeCall('loc')).length)
            console.log('ready')
            """,
            daemon: daemon
        )
        try await script.awaitOutput("ready")
        let client = try daemon.connect()
        try await client.awaitCommand("place")
        #expect(try await daemon.client("call", "brighten", "3").output == "3\n")
        #expect(try await client.value("brighten", [4]) == 7)
        #expect(try await client.value("later", ["x"]) == ["got": ["x"]])
        #expect(try await client.value("promise", [1]) == [[1]])
        #expect(try await client.value("nothing", []) == .null)
        #expect(try await client.value("place", []) == 4)
        #expect(
            try await client.ask(#"{"handlerName":"promise","data":"as it is","callbackId":"b"}"#)
                == #"{"responseId":"b","responseData":["as it is"]}"#
        )
    }

    @Test func `a handler that takes a callback is answered by it alone`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            const handlers = {
                timer: (data, respond) => setTimeout(() => respond('late'), 20),
                async: async (data, respond) => { setTimeout(() => respond('late'), 20) },
                arrow: (data, respond) => respond('at once'),
                both: (data, respond) => { respond('first'); return 'second' },
                value: (data, respond) => { setTimeout(() => respond('called back'), 20); return 'returned' },
                promise: async (data, respond, call) => call.command,
                rejects: async (data, respond) => { throw new Error('rejected') },
                throws: (data, respond) => { throw new Error('thrown') },
                plain: data => 'returned',
                nothing: () => {},
                chained: data => new Promise(resolve => setTimeout(() => resolve('later'), 20)),
            }
            for (const name of Object.keys(handlers)) WebViewJavascriptBridge.registerHandler(name, handlers[name])
            """,
            daemon: daemon
        )
        let client = try daemon.connect()
        try await client.awaitCommand("chained")
        let answers: KeyValuePairs<String, JSONValue> = [
            "timer": "late", "async": "late", "arrow": "at once", "both": "first", "value": "called back",
            "promise": "promise", "plain": "returned", "nothing": .null, "chained": "later",
        ]
        for (name, answer) in answers { #expect(try await client.value(name, []) == answer, "\(name)") }
        #expect(try await client.failure("rejects")["message"] == "rejected")
        #expect(try await client.failure("throws")["message"] == "thrown")
        #expect(script.process.poll() == nil)
    }

    @Test func `what a handler throws its caller gets, with the place, and the script goes on`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            const bridge = WebViewJavascriptBridge
            bridge.registerHandler('throws', () => { nope() })
            bridge.registerHandler('rejects', async () => { throw Object.assign(new Error('gone'), {code: 'unavailable'}) })
            bridge.registerHandler('answers', (data, respond) => respond(new Error('no')))
            bridge.registerHandler('cyclic', () => { const a = {}; a.a = a; return a })
            """,
            daemon: daemon
        )
        let client = try daemon.connect()
        try await client.awaitCommand("cyclic")
        let thrown = try await client.failure("throws")
        #expect(thrown["code"] == "scriptFailed" && thrown["line"] == 2 && thrown["handler"] == "throws")
        #expect(thrown["file"] == .string(script.folder("bell.js")))
        #expect(thrown["message"] == "ReferenceError: Can't find variable: nope")
        #expect(try await client.failure("rejects")["code"] == "unavailable")
        #expect(try await client.failure("answers")["message"] == "no")
        #expect(try await client.failure("cyclic")["code"] == "scriptFailed")
        #expect(script.process.poll() == nil)
        #expect(script.errors.contains("bell.js:2"))
    }

    @Test func `handlers are command objects of every phase`() async throws {
        let mappings = try TestFolder.mappings(
            """
            lamp:
              validation: ["script:check"]
              business: ["script:first", "script:second", "script:never"]
              view: ["script:show"]
            shown:
              business: ["script:first"]
              view: ["script:show"]
            """
        )
        let daemon = try await DaemonProcess(mappings: mappings.path)
        let script = try ScriptProcess.run(
            """
            const bridge = WebViewJavascriptBridge
            bridge.registerHandler('check', (data, respond, call) => {
                if (data[0] > 9) throw Object.assign(new Error('at most 9'), {field: '/0'})
                respond()
            })
            bridge.registerHandler('first', data => data[0] + 1)
            bridge.registerHandler('second', (data, respond, call) => { call.end(); respond([call.command, call.phase, call.results]) })
            bridge.registerHandler('never', () => console.log('never'))
            bridge.registerHandler('show', (data, respond, call) => { call.replyCommand = 'showLamp'; respond(call.results[0]) })
            """,
            daemon: daemon
        )
        let client = try daemon.connect()
        let caller = try daemon.connect()
        try await eventually("the handlers are there") {
            try await caller.ask("call?cmd=shown&msg=1&id=s") == "handleJSONRequest?cmd=showLamp&msg=2&id=s"
        }
        #expect(try await client.value("lamp", [3]) == ["lamp", "business", [4]])
        let refused = try await client.failure("lamp", [10])
        #expect(refused["code"] == "invalid")
        #expect(refused["fields"] == [["field": "/0", "expected": "at most 9"]])
        #expect(!script.output.contains("never"))
    }

    @Test func `a call that comes back into the waiting script is busy at once`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            WebViewJavascriptBridge.registerHandler('self', () => 1)
            // The handler is registered when a call behind that is answered.
            makeCall('ping').then(() => {
                try { makeCallSync('self') } catch (error) { console.log(error.code) }
            })
            """,
            daemon: daemon
        )
        try await script.awaitOutput("busy\n")
        #expect(try await daemon.connect().value("self", []) == 1)
    }

    @Test func `two scripts that wait for each other are no deadlock`() async throws {
        let daemon = try await DaemonProcess()
        let a = try ScriptProcess.run(
            """
            WebViewJavascriptBridge.registerHandler('a', () => 'a')
            WebViewJavascriptBridge.registerHandler('start', () => makeCallSync('b'))
            """,
            name: "a.js",
            daemon: daemon
        )
        let b = try ScriptProcess.run(
            "WebViewJavascriptBridge.registerHandler('b', async () => (await makeCall('a').catch(error => error.code)))",
            name: "b.js",
            daemon: daemon
        )
        defer { withExtendedLifetime((a, b)) {} }
        let client = try daemon.connect()
        try await client.awaitCommand("start")
        try await client.awaitCommand("b")
        #expect(try await client.value("start", []) == "busy")
        #expect(try await client.value("a", []) == "a")
    }

    @Test func `makeCallSync lets its callers' time run out, and the script goes on`() async throws {
        let mappings = try TestFolder.mappings("never: {business: [\"script:silent\"], timeout: 60s}")
        let daemon = try await DaemonProcess(mappings: mappings.path)
        let script = try ScriptProcess.run(
            """
            WebViewJavascriptBridge.registerHandler('waits', () => makeCallSync('never'))
            WebViewJavascriptBridge.registerHandler('works', () => 'yes')
            """,
            daemon: daemon,
            settings: "scripts: {handlerTime: 1s}"
        )
        let silent = try daemon.connect()
        _ = try await silent.ask(#"{"handlerName":"registerHandler","data":["silent"],"callbackId":"1"}"#)
        let client = try daemon.connect()
        try await client.awaitCommand("works")
        #expect(try await client.failure("waits")["code"] == "timeout")
        // The time of this handler's calls is short, too.
        try await eventually("the script goes on") { try await client.reply("works", []).value == "yes" }
        #expect(script.process.poll() == nil)
    }

    @Test func `a handler that never answers gives its caller timeout`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            "WebViewJavascriptBridge.registerHandler('silent', (data, respond) => {})",
            daemon: daemon,
            settings: "scripts: {handlerTime: 300ms}"
        )
        let client = try daemon.connect()
        try await client.awaitCommand("silent")
        let failure = try await client.failure("silent")
        #expect(failure["code"] == "timeout")
        #expect(failure["message"]?.stringValue?.contains("bell.js") == true)
        #expect(script.process.poll() == nil)
    }

    @Test func `a failure is told with its place, by a schedule and in the log, too`() async throws {
        let mappings = try TestFolder.mappings(
            "night: {schedule: {at: \"22:00\"}, call: [fails]}\nfails: {business: [\"script:fails\"]}"
        )
        let daemon = try await DaemonProcess(mappings: mappings.path)
        let script = try ScriptProcess.run(
            "quickconnect.handle('fails', () => { null.x }).then(() => console.log('ready'))",
            daemon: daemon
        )
        try await script.awaitOutput("ready")
        for words in [["call", "fails"], ["call", "night", "run"]] {
            let child = try daemon.startClient(words)
            _ = try await child.wait()
            let errors = String(decoding: child.standardError, as: UTF8.self)
            #expect(errors.contains("null is not an object") && errors.contains("bell.js:1:"), "\(words): \(errors)")
        }
        #expect(try await daemon.client("explain", "fails").output.contains("bell.js:1:"))
        try await eventually("it is logged") {
            daemon.log.split(separator: "\n").contains { $0.contains("'night' failed") && $0.contains("bell.js:1:") }
        }
        withExtendedLifetime(mappings) {}
    }

    @Test func `a name that another one holds is told`() async throws {
        let daemon = try await DaemonProcess()
        let first = try ScriptProcess.run("WebViewJavascriptBridge.registerHandler('x', () => 1)", daemon: daemon)
        try await daemon.connect().awaitCommand("x")
        let second = try ScriptProcess.run("WebViewJavascriptBridge.registerHandler('x', () => 2)", daemon: daemon)
        #expect(try await second.end() == .status(1))
        #expect(second.errors.contains("the handler x is not registered") && second.errors.contains(", bell.js)"))
        // What goes on does not fail, and what the script catches is its own matter.
        for text in ["quickconnect.handle('x', () => 3)", "quickconnect.handle('x', () => 3).catch(() => {})"] {
            let third = try ScriptProcess.run(text, daemon: daemon)
            #expect(try await third.end() == .status(text.contains("catch") ? 0 : 1), "\(third.errors)")
        }
        #expect(first.process.poll() == nil)
    }

    @Test(
        arguments: [
            ("quickconnect.handle('x', () => 2)", 0), ("WebViewJavascriptBridge.registerHandler('x', () => 2)", 0),
            ("quickconnect.handle('other', () => 2)", 1),
        ] as [(String, Int32)]
    )
    func `a handler that is refused, and registered later, is not missed`(refused: String, exit: Int32) async throws {
        let daemon = try await DaemonProcess()
        let holder = try daemon.connect()
        for name in ["x", "other"] { _ = try await holder.value("registerHandler", [.string(name)]) }
        let text = """
            \(refused)
            async function again() {
                try { await quickconnect.handle('x', () => 3) } catch { return setTimeout(again, 10) }
                WebViewJavascriptBridge.removeHandler('x')
            }
            setTimeout(again, 10)
            """
        let script = try ScriptProcess.run(text, daemon: daemon)
        try await script.awaitErrors("is registered by another connection")
        _ = try await holder.value("removeHandler", ["x"])
        #expect(try await script.end() == .status(exit), "\(script.errors)")
    }

    @Test func `a new daemon learns of handlers and subscriptions, and no call is made twice`() async throws {
        let folder = try TestFolder()
        func start() async throws -> ChildProcess {
            let daemon = try ChildProcess(
                Products.path("quickconnectd"),
                [
                    "--simulate", "--socket", folder("socket"), "--media", folder("media"), "--sounds",
                    Products.root + "/sounds", "--mappings", Products.root + "/mappings",
                ],
                environment: ["PATH": "/usr/bin:/bin", "HOME": folder("home")]
            )
            try await eventually("the daemon listens") { (try? SocketClient(path: folder("socket"))) != nil }
            return daemon
        }
        var daemon = try await start()
        try folder.write(
            """
            let calls = 0
            WebViewJavascriptBridge.registerHandler('count', () => ++calls)
            mapCommandToVCF('news', (data, n) => console.log('news', n))
            makeCall('rec', ['take.wav', 'start', {limit: 60}])
            """,
            to: "bell.js"
        )
        let script = try ChildProcess(
            Products.path("quickconnect"),
            ["run", "--socket", folder("socket"), folder("bell.js")],
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder("home")]
        )
        func output() -> String { String(decoding: script.standardOutput, as: UTF8.self) }
        let holder = try SocketClient(path: folder("socket"))
        try await holder.awaitCommand("count")
        #expect(try await holder.value("count", []) == 1)

        daemon.send(SIGKILL)
        try await daemon.wait()
        daemon = try await start()
        let client = try SocketClient(path: folder("socket"))
        try await client.awaitCommand("count")
        #expect(try await client.value("count", []) == 2)
        try await eventually("the script hears news again") {
            _ = try await client.value("post", ["news", 5])
            return output().contains("news 5")
        }
        // The recording was not begun a second time.
        #expect(try await client.value("state", []).objectValue?["recording"] == [])
        withExtendedLifetime(daemon) {}
    }

    @Test func `a call under way when the daemon dies gets unavailable`() async throws {
        let mappings = try TestFolder.mappings("never: {business: [\"script:silent\"], timeout: 60s}")
        let daemon = try await DaemonProcess(mappings: mappings.path)
        let silent = try daemon.connect()
        _ = try await silent.ask(#"{"handlerName":"registerHandler","data":["silent"],"callbackId":"1"}"#)
        let script = try ScriptProcess.run(
            "makeCall('never').catch(error => console.log(error.code, error.message))",
            daemon: daemon
        )
        _ = try await silent.next()
        daemon.process.send(SIGKILL)
        #expect(try await script.end() == .status(0))
        #expect(script.lines == ["unavailable the connection to the daemon was lost while never was under way"])
    }
}

extension SocketClient {
    /// Makes a call that must fail, and gives the error.
    func failure(_ command: String, _ parameters: JSONValue = []) async throws -> JSONObject {
        let id = "f\(Int.random(in: 0...Int.max))"
        send("call?cmd=\(command)&id=\(id)&msg=\(PercentEncoding.encode(parameters.text))")
        while let reply = try await nextReply() {
            guard reply.id == id else { continue }
            #expect(reply.command == "error")
            return reply.value.objectValue ?? [:]
        }
        throw NotInTime(description: "no answer to \(command)")
    }

    /// Waits until a command is there.
    func awaitCommand(_ command: String) async throws {
        try await eventually("the command \(command) is there") {
            let handlers = try await value("state", []).objectValue?["handlers"]?.arrayValue ?? []
            return handlers.contains { $0.objectValue?["name"]?.stringValue == command }
        }
    }
}
