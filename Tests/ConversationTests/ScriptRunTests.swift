import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("A script in the foreground")
struct ScriptRunTests {
    @Test func `it prints its console and ends when nothing is left to wait for`() async throws {
        let script = try ScriptProcess.run(
            """
            #!/usr/bin/env -S quickconnect run
            console.log('%s has %d', script.name, script.arguments.length, {a: [1, 'x', null]})
            console.error('oops')
            setTimeout(() => console.log('later'), 2000)
            setTimeout(() => console.log('sooner'), 5)
            queueMicrotask(() => console.log('first'))
            const timer = setInterval(() => { console.log('tick'); clearInterval(timer) }, 10)
            """,
            "one",
            "-2",
            daemon: nil
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines == [#"bell.js has 2 {a: [1, "x", null]}"#, "first", "sooner", "tick", "later"])
        #expect(script.errors == "oops\n")
    }

    @Test func `one that runs already is told of`() async throws {
        let (daemon, folder) = (try await DaemonProcess(), try TestFolder())
        try folder.write("quickconnect.on('door', () => {}).then(() => console.log('hears'))", to: "bell.js")
        let first = try daemon.startClient(["run", folder("bell.js")])
        try await first.awaitLine("hears")
        #expect(first.errors.isEmpty)
        let second = try daemon.startClient(["run", folder("bell.js")])
        try await second.awaitLine("hears")
        #expect(second.errors == "quickconnect: bell.js runs already: from now on it does twice what it hears\n")
        for script in [first, second] { script.send(SIGTERM) }
    }

    @Test(arguments: [
        ("\nnope.x", ":2:5: ReferenceError: Can't find variable: nope"),
        ("var a = 1\nvar b = ;", ":2: SyntaxError: Unexpected token ';'"),
        ("setTimeout(() => { null.x }, 1)", ":1:24: TypeError: null is not an object (evaluating 'null.x')"),
        ("Promise.reject(new RangeError('far'))", ":1:30: RangeError: far"),
        ("(async () => { await 0; throw 'text' })()", ": text"),
        ("throw {message: 'like an error'}", ": like an error"), ("throw {a: 1, b: ['x']}", #": {a: 1, b: ["x"]}"#),
        ("throw [1]", ": [1]"), ("await 0\nawait 0; null.x", ":2:14: TypeError: null is not an object"),
        ("var x = await 0 +* 1", ":1: SyntaxError"),
        (
            "function f() {\n  const x = await f()\n}",
            ":2: SyntaxError: Unexpected identifier 'f'. Expected ';' after variable declaration. (await stands only in async"
        ),
        ("(function down() { down() })()", "RangeError: Maximum call stack size exceeded."),
    ])
    func `an error that nobody handles ends it with its place`(text: String, message: String) async throws {
        let script = try ScriptProcess.run(text, daemon: nil)
        #expect(try await script.end() == .status(1))
        #expect(script.errors.contains("bell.js"))
        #expect(script.errors.contains(message), "\(script.errors)")
    }

    @Test(arguments: [
        ("Promise.reject(new RangeError('far'))", true), ("(async () => { await 0; throw 'text' })()", true),
        ("setTimeout(async () => { null.x }, 1)", true), ("setTimeout(() => { null.x }, 1)", false),
    ])
    func `a promise that nobody caught says how to catch it`(text: String, isPromise: Bool) async throws {
        let script = try ScriptProcess.run(text, daemon: nil)
        #expect(try await script.end() == .status(1))
        let hint = "; nobody caught this promise, which ends the script: catch it with try or .catch()"
        #expect(script.errors.split(separator: "\n").first?.hasSuffix(hint) == isPromise, "\(script.errors)")
    }

    @Test func `a value that nobody has declared is missed as a value`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            for (const access of [() => getValue('motor'), () => setValue('motor', true), () => getValue('inerProgress')]) {
                try { access() } catch (error) { console.log(error.code, error.message) }
            }
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(0), "\(script.errors)")
        let remedy = "declare it in a mapping (docs/values.md), then «quickconnect call reload»"
        #expect(
            script.lines == [
                "unknownCommand there is no value 'motor': \(remedy)",
                "unknownCommand there is no value 'motor': \(remedy)",
                "unknownCommand there is no value 'inerProgress', did you mean 'innerProgress'? Else \(remedy)",
            ]
        )
    }

    @Test func `an await may stand outside of functions`() async throws {
        let script = try ScriptProcess.run(
            """
            #!/usr/bin/env -S quickconnect run
            // await
            const later = new Promise(done => setTimeout(() => done('later'), 5))
            console.log(await later, this === globalThis)
            for (const value of [1, 2]) console.log(await value)
            function own() { return 'own' }
            console.log(own(), typeof globalThis.own)
            """,
            daemon: nil
        )
        #expect(try await script.end() == .status(0), "\(script.errors)")
        #expect(script.lines == ["later true", "1", "2", "own undefined"])
        // No error has a place behind the text.
        let wrong = try ScriptProcess.run("await quickconnect.set('x')", daemon: nil)
        #expect(try await wrong.end() == .status(1) && wrong.errors.contains(":1:"), "\(wrong.errors)")
        #expect(!wrong.errors.contains("bell.js:2") && !wrong.errors.contains("bell.js:3"), "\(wrong.errors)")
        // Where all of them stand in functions, functions are global.
        let global = try ScriptProcess.run(
            "async function f() { await 0 }\nconsole.log(typeof globalThis.f)",
            daemon: nil
        )
        #expect(try await global.end() == .status(0) && global.lines == ["function"])
    }

    @Test func `its program says its version, and whom a handler's name already belongs to`() async throws {
        let version = try await ChildProcess.run(Products.path("quickconnect-scripts"), ["--version"])
        let own = try await ChildProcess.run(Products.path("quickconnectd"), ["--version"]).output
        #expect(version.exit == .status(0) && own == "quickconnectd \(version.output)")
        let daemon = try await DaemonProcess()
        let text = """
            const {registerHandler, removeHandler} = WebViewJavascriptBridge
            registerHandler('ping', () => 1)
            registerHandler('mine', () => 1)
            makeCall('ping').then(() => { removeHandler('ping'); removeHandler('mine') })
            """
        let script = try ScriptProcess.run(text, daemon: daemon)
        #expect(try await script.end() == .status(0), "\(script.errors)")
        #expect(script.errors.contains("the handler ping: 'ping' is a command of the mappings already"))
        #expect(!script.errors.contains("mine"), "\(script.errors)")
    }

    @Test func `the stack is told, without the runtime's own calls`() async throws {
        let script = try ScriptProcess.run("function a() {\n  throw new Error('x')\n}\nsetTimeout(a, 1)", daemon: nil)
        #expect(try await script.end() == .status(1))
        #expect(script.errors.contains("\n    at a (\(script.folder("bell.js")):2:"))
        #expect(!script.errors.contains("quickconnect:"))
    }

    @Test(arguments: ["", "return true", "return false"])
    func `a window's onerror keeps it alive, as in a browser, and the error is told unless it says true`(
        answer: String
    ) async throws {
        let script = try ScriptProcess.run(
            """
            window.onerror = function (message, file, line) { console.log(message, line, this === window); \(answer) }
            setTimeout(() => { throw new Error('x') }, 1)
            setTimeout(() => console.log('alive'), 10)
            Promise.reject(new Error('y'))
            """,
            daemon: nil
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines == ["y 4 true", "x 2 true", "alive"])
        #expect(script.errors.contains("bell.js:2:35: Error: x") == (answer != "return true"), "\(script.errors)")
    }

    @Test func `an onerror that fails itself ends it`() async throws {
        let script = try ScriptProcess.run("window.onerror = () => nope()\nthrow new Error('x')", daemon: nil)
        #expect(try await script.end() == .status(1))
        #expect(script.errors.contains("Error: x") && script.errors.contains("Can't find variable: nope"))
    }

    @Test func `an unreadable file is a mistake of usage`() async throws {
        let folder = try TestFolder()
        for name in ["nothing.js", "."] {
            let run = try await ChildProcess.run(Products.path("quickconnect"), ["run", folder(name)])
            #expect(run.exit == .status(2))
        }
        let none = try await ChildProcess.run(Products.path("quickconnect"), ["run"])
        #expect(none.exit == .status(2))
    }

    @Test func `a call without a daemon ends it with status 3, a script without calls needs none`() async throws {
        let script = try ScriptProcess.run("makeCall('ping')", daemon: nil)
        #expect(try await script.end() == .status(3))
        #expect(script.errors.contains("no daemon answers") && script.errors.contains("«quickconnectd --simulate"))
        let waiting = try ScriptProcess.run(
            "for (;;) { try { makeCallSync('ping') } catch { console.log('on') } finally { console.log('and on') } }",
            daemon: nil
        )
        #expect(try await waiting.end() == .status(3))
        #expect(waiting.errors.contains("no daemon answers") && waiting.output == "")
    }

    @Test func `a name that turns out to be no event keeps nothing alive and needs no daemon`() async throws {
        let script = try ScriptProcess.run(
            """
            mapCommandToVCF('show', (data, p) => console.log(p))
            setTimeout(() => handleRequest('show', ['later']), 20)
            """,
            daemon: nil
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines == [#"["later"]"#])
        let handler = try ScriptProcess.run("WebViewJavascriptBridge.registerHandler('x', () => 1)", daemon: nil)
        #expect(try await handler.end() == .status(3))
    }

    @Test func `what it finds it may call by other names`() async throws {
        let script = try ScriptProcess.run(
            """
            const location = 1, messages = 2, script = 3, load = 4, qc = 5, window = 6, self = 7, name = 8, status = 9
            let makeCall = 10, handleRequest = 11, WebViewJavascriptBridge = 12
            function play() { return 13 }
            console.log(location, messages, script, load, qc, window, self, makeCall, handleRequest, play())
            setTimeout(() => console.log('alive'), 1)
            """,
            daemon: nil
        )
        #expect(try await script.end() == .status(0), "\(script.errors)")
        #expect(script.lines == ["1 2 3 4 5 6 7 10 11 13", "alive"])
    }

    @Test func `load runs a file below the script's folder and nothing else`() async throws {
        let outside = try TestFolder()
        try outside.write("console.log('outside')", to: "secret.js")
        let script = try ScriptProcess.run(
            """
            console.log(load('lib/words.js'), word)
            for (const name of ['../x.js', '/etc/passwd', 'link.js', 'lib', 'none.js', '', 'a\\0b']) {
                try { load(name); console.log('loaded ' + name) } catch (error) { console.log('no') }
            }
            try { load('lib/broken.js') } catch (error) { console.log(error.sourceURL, error.line) }
            """,
            daemon: nil,
            files: ["lib/words.js": "#!x\nvar word = 'hello'; 7", "lib/broken.js": "\n\nnope()"]
        )
        try FileManager.default.createSymbolicLink(
            atPath: script.folder("link.js"),
            withDestinationPath: outside("secret.js")
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines == ["7 hello"] + Array(repeating: "no", count: 7) + ["lib/broken.js 3"])
    }

    @Test func `it has no files, no network and no processes`() async throws {
        let names = [
            "require", "process", "fetch", "XMLHttpRequest", "WebSocket", "Deno", "Bun", "importScripts", "readFile",
            "quit", "run", "native", "host", "imports", "open",
        ]
        let script = try ScriptProcess.run(
            "console.log(\(names.map { "typeof \($0)" }.joined(separator: ",")))\nimport('./x.js').catch(() => console.log('no import'))",
            daemon: nil
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines == [names.map { _ in "undefined" }.joined(separator: " "), "no import"])
    }

    // MARK: Calls

    @Test func `calls answer promises, VCFs and at once`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            mapCommandToVCF('showLoc', (data, place) => console.log('VCF', data.length, place.length))
            mapCommandToVCF('hello', (data, answer) => console.log('VCF', answer.program))
            makeCall('loc').then(place => console.log('promise', place.length))
            console.log('at once', makeCallSync('hello').protocol + 1)
            makeCall('logMessage', 'a text').then(value => console.log('logged', value))
            makeCall('logMessage', {a: [1]})
            makeCall('logMessage', '["one"]')
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines.prefix(2) == ["VCF quickconnectd", "at once 2"])
        #expect(Set(script.lines.dropFirst(2)) == ["logged null", "VCF 0 4", "promise 4"])
        try await eventually("the log has the three") {
            daemon.log.contains("a text") && daemon.log.contains(#"{"a":[1]}"#) && daemon.log.contains(": one")
        }
    }

    @Test func `an error reply has its code and the place of the call, and may be ignored`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            makeCall('playSound', 99)
            makeCall('noSuch').catch(error => console.log(error.code, error.line, error.nearest.length))
            try { makeCallSync('playSound', 'loud') } catch (error) { console.log(error.code, error.fields[0].field, error.line) }
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(0))
        #expect(Set(script.lines) == ["invalid /0 3", "unknownCommand 2 0"])
        #expect(script.errors.contains("playSound: there is no system sound 99"))
    }

    @Test func `replies that come behind that of makeCallSync are not lost`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            let done = 0
            for (let i = 0; i < 50; i++) {
                makeCall('loc').then(() => done++)
                makeCall('ping').then(() => done++)
                makeCallSync('ping')
                makeCall('sounds').then(() => done++)
            }
            setTimeout(function look() { if (done < 150) return setTimeout(look, 10); console.log(done) }, 10)
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines == ["150"])
    }

    @Test func `an error of a call that is used and not handled ends it`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run("\nmakeCall('playSound', 99).then(() => 1)", daemon: daemon)
        #expect(try await script.end() == .status(1))
        #expect(script.errors.contains("bell.js:2:9: notFound: there is no system sound 99"), "\(script.errors)")
    }

    @Test func `errors go to what is mapped to error, and to the command's ECFs`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            mapCommandToECF('playSound', (message, error) => console.log('ECF', error.code))
            mapCommandToVCF('error', (data, error) => console.log('VCF', error.code, error.line))
            makeCall('playSound', 99)
            setTimeout(() => { nope() }, 1)
            setTimeout(() => console.log('alive'), 50)
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(0))
        #expect(Set(script.lines) == ["ECF notFound", "VCF notFound undefined", "VCF scriptFailed 4", "alive"])
    }

    @Test func `the front controller runs ValCFs, BCFs and VCFs in order`() async throws {
        let script = try ScriptProcess.run(
            """
            mapCommandToValCF('default', p => console.log('default'))
            mapCommandToValCF('sum', p => p.length > 0)
            mapCommandToBCF('sum', p => p.reduce((a, b) => a + b))
            mapCommandToBCF('sum', async (p, results) => results[0] * 10)
            mapCommandToVCF('sum', (data, p) => console.log(data, p))
            mapCommandToVCF('sum', () => 'stop')
            mapCommandToVCF('sum', () => console.log('never'))
            mapCommandToECF('sum', message => console.log(message))
            mapCommandToBCF('ends', () => null)
            mapCommandToVCF('ends', () => console.log('never'))
            handleRequest('sum', [])
            handleJSONRequest('sum', '[1,2]')
            handleRequest('ends', [])
            handleRequest('unknown', [])
            """,
            daemon: nil
        )
        #expect(try await script.end() == .status(0))
        #expect(
            script.lines == [
                "default", "validation failed", "default", "default", "default", "[3, 30] [1, 2]",
            ]
        )
    }

    @Test func `no call of a burst is lost: those beyond what may be under way wait, in order`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            const answered = []
            for (let i = 0; i < 5000; i++) makeCall('ping').then(() => answered.push(i), error => console.log(error.code))
            makeCall('ping').then(() => console.log(answered.length, answered.every((n, i) => n === i)))
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines == ["5000 true"])
    }

    @Test func `makeCallSync comes behind the calls that wait`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            for (let i = 0; i < 50; i++) makeCall('logMessage', 'line ' + i)
            makeCallSync('logMessage', 'the last line')
            makeCall('logMessage', 'done')
            """,
            daemon: daemon,
            settings: "scripts: {calls: 2}"
        )
        #expect(try await script.end() == .status(0))
        try await eventually("all is logged") { daemon.log.contains("done") }
        // `… JavaScriptMessage: line 7 (caller=…)`
        let logged = daemon.log.split(separator: "\n").compactMap { line -> Int? in
            guard let text = line.components(separatedBy: "Message: ").last?.components(separatedBy: " (").first
            else { return nil }
            return text == "the last line" ? 50 : text.hasPrefix("line ") ? Int(text.dropFirst(5)) : nil
        }
        #expect(logged == Array(0...50), "\(daemon.log)")
    }

    @Test func `a burst of more than 32 MiB is overloaded, and the ECFs hear of it`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            let done = 0, refused = 0, heard = 0, told = 0
            const look = () => { if (done + refused === 40 && heard === refused) console.log(done, refused, heard, told) }
            mapCommandToECF('ping', (message, error) => { heard++; if (error.code === 'overloaded') told++; look() })
            const text = 'x'.repeat(1 << 20)
            for (let i = 0; i < 40; i++) {
                makeCall('ping', i < 1 ? undefined : [text]).then(() => done++, error => {
                    if (error.code === 'overloaded') refused++; else done++, heard--
                    look()
                })
            }
            """,
            daemon: daemon,
            settings: "scripts: {cpuTime: 20s, handlerTime: 60s}"
        )
        #expect(try await script.end() == .status(0), "\(script.errors)")
        #expect(script.lines.last == "32 8 8 8", "\(script.output)")
    }

    @Test func `a page that makes a call of each error it hears goes on`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            let heard = 0
            function handleJSONRequest(command, json) { if (command === 'error') { heard++; makeCall('logMessage', json) } }
            const text = 'x'.repeat(1 << 20)
            for (let i = 0; i < 40; i++) makeCall('ping', [text])
            setTimeout(function look() { if (heard < 40) return setTimeout(look, 10); console.log('alive') }, 10)
            """,
            daemon: daemon,
            settings: "scripts: {cpuTime: 20s, handlerTime: 60s}"
        )
        #expect(try await script.end() == .status(0), "\(script.errors)")
        #expect(script.lines == ["alive"])
    }

    @Test func `a success with nothing to say is the promise's alone`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            mapCommandToVCF('default', (data, p) => console.log('default', p))
            mapCommandToVCF('logMessage', (data, p) => console.log('logMessage', p))
            const own = handleJSONRequest
            handleJSONRequest = (command, json) => {
                console.log(command)
                // Where its own reply came here, this would go on for ever.
                makeCall('logMessage', command)
                own(command, json)
            }
            makeCall('logMessage', 'one').then(value => console.log('promise', value))
            makeCallSync('logMessage', 'two')
            makeCall('sounds').then(() => setTimeout(() => console.log('end'), 100))
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(0))
        #expect(Set(script.lines.filter { !$0.hasPrefix("default") }) == ["sounds", "promise null", "end"])
        #expect(script.lines.count { $0.hasPrefix("default") } == 1)
    }

    @Test func `alert is logged and posted, confirm is declined and prompt has no answer`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        _ = try await client.value("subscribe", ["alert"])
        let script = try ScriptProcess.run(
            "alert('Fire!'); console.log(confirm('Sure?'), prompt('Who?'))",
            daemon: daemon
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines == ["Fire!", "false null"])
        let event = try #require(try await client.nextReply())
        #expect(event.command == "alert" && event.value == "Fire!" && event.id == nil)
        let alone = try ScriptProcess.run("alert('nobody hears')", daemon: nil)
        #expect(try await alone.end() == .status(0))
        #expect(alone.lines == ["nobody hears"])
    }

    @Test func `what the daemon would not read is tooLarge, and nothing waits for ever`() async throws {
        let daemon = try await DaemonProcess(settings: "limits: {lineBytes: 65536}")
        let script = try ScriptProcess.run(
            """
            const long = 'x'.repeat(70000)
            let deep = []
            for (let i = 0; i < 600; i++) deep = [deep]
            for (const message of [long, deep]) {
                makeCall('logMessage', message).catch(error => console.log(error.code, error.line))
                try { makeCallSync('logMessage', message) } catch (error) { console.log(error.code) }
            }
            WebViewJavascriptBridge.registerHandler('long', () => long)
            WebViewJavascriptBridge.registerHandler('deep', async () => deep)
            WebViewJavascriptBridge.registerHandler('brackets', () => '['.repeat(600))
            """,
            daemon: daemon,
            settings: "limits: {lineBytes: 65536}"
        )
        let client = try daemon.connect()
        try await client.awaitCommand("brackets")
        #expect(try await client.failure("long")["code"] == "tooLarge")
        #expect(try await client.failure("deep")["code"] == "tooLarge")
        #expect(try await client.value("brackets", []).stringValue?.count == 600)
        #expect(script.lines == ["tooLarge", "tooLarge", "tooLarge 5", "tooLarge 5"])
    }

    // MARK: Events

    @Test func `a VCF that is mapped to an event gets its value as it is and keeps the script alive`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            "mapCommandToVCF('doorbell', (data, event) => console.log(event.door)); makeCall('ping')",
            daemon: daemon
        )
        let client = try daemon.connect()
        try await eventually("the script hears the bell") {
            _ = try await client.value("post", ["doorbell", ["door": "front"]])
            return script.output.contains("front")
        }
        #expect(script.process.poll() == nil)
    }

    @Test func `an event that this device lacks is told, and keeps nothing alive`() async throws {
        // It simulates nothing, and has no sensor.
        let daemon = try await DaemonProcess([])
        let script = try ScriptProcess.run("mapCommandToVCF('accel', () => {})", daemon: daemon)
        #expect(try await script.end() == .status(0))
        #expect(script.errors.hasPrefix("accel: "))
    }

    @Test(arguments: [
        "makeCallSync('subscribe', ['news'])",
        "WebViewJavascriptBridge.callHandler('subscribe', 'news')",
        "makeCall('ping').then(() => mapCommandToVCF('news', (data, n) => {}))",
    ])
    func `whatever way a script subscribes, it is kept alive and heard`(way: String) async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            "\(way); mapCommandToVCF('default', (data, n) => { if (n && n.it) console.log(n.it) })",
            daemon: daemon
        )
        let client = try daemon.connect()
        try await eventually("it hears the news") {
            _ = try await client.value("post", ["news", ["it": "rains"]])
            return script.output.contains("rains")
        }
        #expect(script.process.poll() == nil)
    }

    @Test func `a subscription of its own keeps it alive until it is taken back`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            mapCommandToVCF('news', (data, n) => { console.log(n); if (n === 2) makeCall('unsubscribe', ['news']) })
            makeCall('subscribe', ['news']).then(() => { makeCall('post', ['news', 1]); makeCall('post', ['news', 2]) })
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines == ["1", "2"])
    }
}
