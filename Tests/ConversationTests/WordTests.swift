import Foundation
import JSON
import TestRig
import Testing

/// `on`, `call`, `handle`, `value`, `set` and `post` of scripts and macros, and a VCF of a value.
@Suite("The words of scripts and macros")
struct WordTests {
    @Test func `a script has a value now and at each change, and events, until it ends that`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            const {value, set, on, post, call} = quickconnect
            const seen = [], heard = []
            console.log(await value('innerProgress'))
            const off = await value('innerProgress', (value, name) => seen.push([value, name]))
            const end = await on('doorbell', (data, name) => heard.push([name, data]))
            console.log(await set('innerProgress', 99), await set('innerProgress', 10), await set('innerProgress', 4))
            await post('doorbell', {door: 'front'})
            await post('doorbell')
            await call('ping')
            console.log(JSON.stringify(seen), JSON.stringify(heard))
            await off()
            await end()
            await set('innerProgress', 5)
            await post('doorbell')
            console.log(seen.length, heard.length)
            """,
            daemon: daemon
        )
        // Nothing is left to wait for.
        #expect(try await script.end() == .status(0), "\(script.errors)")
        #expect(
            script.lines == [
                "0", "10 10 4",
                #"[[0,"innerProgress"],[10,"innerProgress"],[4,"innerProgress"]] [["doorbell",{"door":"front"}],["doorbell",null]]"#,
                "3 2",
            ]
        )
    }

    @Test(arguments: [
        ("require('fs')", "Can't find variable: require; a script is one file, without modules"),
        ("await fetch('http://x')", "Can't find variable: fetch; scripts reach the device's commands, and no network"),
        ("import x from './y.js'", "; a script is one file, without modules"),
        ("export default 1", "; a script is one file, without modules"),
        ("document.title", "; a script has no page"), ("process.exit(1)", "; scripts have JavaScript and"),
    ])
    func `what Node and pages have, and scripts do not, is told as that`(text: String, told: String) async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(text, daemon: daemon)
        #expect(try await script.end() == .status(1))
        #expect(script.errors.contains(told), "\(script.errors)")
        // A name in which such a word stands is none of it.
        let other = try ScriptProcess.run("let importance = 1, importance = 2", daemon: daemon)
        #expect(try await other.end() == .status(1))
        #expect(!other.errors.contains("modules"), "\(other.errors)")
    }

    @Test func `a handler has its parameters as a list, in whatever form they came`() async throws {
        let daemon = try await DaemonProcess()
        let text = "quickconnect.handle('greet', (data, call) => call.parameters).then(() => console.log('there'))"
        let script = try ScriptProcess.run(text, daemon: daemon)
        try await script.awaitOutput("there")
        let client = try daemon.connect()
        for (data, parameters) in [
            (#","data":"Ann""#, #"["Ann"]"#), (#","data":["Ann",[1]]"#, #"["Ann",[1]]"#),
            (#","data":{"a":1}"#, #"[{"a":1}]"#),
            (#","data":null"#, "[]"), ("", "[]"),
        ] {
            client.send(#"{"handlerName":"greet"\#(data),"callbackId":"1"}"#)
            #expect(try await client.next() == #"{"responseId":"1","responseData":\#(parameters)}"#)
        }
    }

    @Test func `a name that is nearly an event of the device is told`() async throws {
        let daemon = try await DaemonProcess()
        let text = "quickconnect.on('playstate', () => {}).then(off => off())"
        let script = try ScriptProcess.run(text, daemon: daemon)
        #expect(try await script.end() == .status(0), "\(script.errors)")
        let told =
            "'playstate' is not an event of this device, did you mean 'playState'? Nothing comes unless a program posts it."
        #expect(script.errors.contains(told), "\(script.errors)")
    }

    @Test func `what is wrong is refused, with the place`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            const told = promise => promise.then(() => console.log('done'), e => console.log(e.code ?? e.name, e.line, e.message))
            await told(quickconnect.value('inerProgress'))
            await told(quickconnect.value('stop', () => {}))
            await told(quickconnect.value('innerProgress', 7))
            await told(quickconnect.on('doorbell'))
            await told(quickconnect.handle('rings', null))
            await told(quickconnect.set('innerProgress', 'x'))
            await told(quickconnect.set('innerProgress', NaN))
            await told(quickconnect.post('playState', 1))
            await told(quickconnect.call('noSuchCommand', 1))
            await told(quickconnect.set('innerProgress', 1, {for: '3s'}))
            await told((async () => setValue('innerProgress', 1, {for: '3s'}))())
            await told(quickconnect.add('innerProgress', 1, {for: '3s'}))
            await told(quickconnect.value('innerProgress', () => {}, {rate: 1}))
            await told(quickconnect.on('doorbell', () => {}, {}, 1))
            await told(quickconnect.value('innerProgress').then(value => { throw {code: value} }))
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(0), "\(script.errors)")
        #expect(
            script.lines == [
                "notFound 2 there is no value 'inerProgress', did you mean 'innerProgress' or 'outerProgress'?",
                "notFound 3 'stop' is a command, not a value", "TypeError 4 value needs a function, not 7",
                "TypeError 5 on needs a function, not undefined", "TypeError 6 handle needs a function, not null",
                #"invalid 7 /0: expected value, a number; got the string "x""#,
                "TypeError 8 innerProgress cannot be set to NaN",
                "denied 9 'playState' is an event of the device itself; choose another name for yours",
                "unknownCommand 10 no command 'noSuchCommand'",
                #"TypeError 11 a value with options is a call: quickconnect.call("innerProgress", 1, {for: "3s"})"#,
                #"TypeError 12 a value with options is a call: quickconnect.call("innerProgress", 1, {for: "3s"})"#,
                "TypeError 13 add takes 2 arguments", "TypeError 14 value takes 2 arguments",
                "TypeError 15 on takes 3 arguments", "0 undefined undefined",
            ]
        )
        let loud = try ScriptProcess.run("quickconnect.value('innerProgress', 7)", daemon: daemon)
        #expect(try await loud.end() == .status(1))
        #expect(loud.errors.contains("bell.js:1:19: TypeError: value needs a function"), "\(loud.errors)")
    }

    @Test func `a mistake in a function that listens is told as any other, and keeps the event from no other`()
        async throws
    {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            quickconnect.on('bell', () => null.x)
            quickconnect.on('bell', () => console.log('heard')).then(() => quickconnect.post('bell'))
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(1))
        #expect(script.lines == ["heard"])
        #expect(script.errors.contains("bell.js:1:35: TypeError: null is not an object"), "\(script.errors)")
        #expect(!script.errors.contains("promise"), "\(script.errors)")
    }

    @Test func `a handler answers with what it returns, and may end the stack`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            await quickconnect.handle('rings', (data, call) => { call.end = true; return [data, call.command] })
            await quickconnect.handle('gone', () => 1)
            quickconnect.removeHandler('gone')
            console.log('ready')
            """,
            daemon: daemon
        )
        try await script.awaitOutput("ready")
        let client = try daemon.connect()
        #expect(try await client.value("rings", [3]) == [[3], "rings"])
        #expect(try await client.failure("gone")["code"] == "unknownCommand")
        let second = try ScriptProcess.run(
            "quickconnect.handle('rings', () => 2).catch(error => console.log(error.code))",
            daemon: daemon
        )
        #expect(try await second.end() == .status(0), "\(second.errors)")
        #expect(second.lines == ["busy"])
    }

    @Test func `the words are globals of a script, unless it has the names itself`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            const value = 1, post = 2
            function set() { return 3 }
            console.log(value, post, set(), [on, call, handle].every(each => typeof each === 'function'))
            quickconnect.set('innerProgress', 2).then(() => call('innerProgress')).then(console.log)
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(0), "\(script.errors)")
        #expect(script.lines == ["1 2 3 true", "2"])
    }

    @Test(arguments: [
        "makeCall('innerProgress')", "makeCallSync('innerProgress')", "getValue('innerProgress')",
        "setValue('innerProgress', 1)", "mapCommandToBCF('innerProgress', value => value)",
        "WebViewJavascriptBridge.callHandler('innerProgress')", "quickconnect.value('innerProgress')",
    ])
    func `a VCF of a value always gets its event`(call: String) async throws {
        let daemon = try await DaemonProcess()
        let map = "mapCommandToVCF('innerProgress', (data, value) => { console.log('VCF', value) })"
        for text in ["\(map); \(call)", "\(call); \(map)"] {
            let script = try ScriptProcess.run("\(text); setTimeout(() => {}, 30000)", daemon: daemon)
            let client = try daemon.connect()
            try await eventually("it hears: \(script.output) \(script.errors)") {
                _ = try await client.value("innerProgress", [7])
                return script.lines.contains("VCF 7")
            }
            script.process.send(SIGTERM)
            try await script.process.wait()
        }
    }

    @Test func `a VCF of a command that is no value keeps nothing alive, and the daemon is not asked for its events`()
        async throws
    {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            "mapCommandToVCF('volume', (data, value) => console.log(typeof value)); makeCall('volume')",
            daemon: daemon
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines == ["object"] && script.errors == "")
    }

    @Test func `over a restart of the daemon a script is told the value if it changed, and goes on`() async throws {
        let daemon = try await RestartedDaemon()
        let folder = try TestFolder()
        try folder.write(
            """
            quickconnect.value('innerProgress', value => console.log('inner', value))
            quickconnect.value('middleProgress', value => console.log('middle', value))
            mapCommandToVCF('outerProgress', (data, value) => { console.log('VCF', value) })
            makeCall('outerProgress')
            """,
            to: "bell.js"
        )
        let script = try ChildProcess(
            Products.path("quickconnect"),
            ["run", folder("bell.js")],
            environment: ["PATH": "/usr/bin:/bin", "QUICKCONNECT_SOCKET": daemon.socket]
        )
        try await script.awaitLine("inner 0")
        try await script.awaitLine("middle 0")
        try await script.awaitLine("VCF 0")
        _ = try await daemon.connect().value("innerProgress", [3])
        try await script.awaitLine("inner 3")
        try await daemon.kill()
        try await daemon.start()
        try await eventually("it is told: \(script.outputLines)") {
            script.outputLines.filter { $0 == "inner 0" }.count == 2
        }
        try await eventually("the VCF hears again") {
            _ = try await daemon.connect().value("outerProgress", [2])
            return script.outputLines.contains("VCF 2")
        }
        #expect(script.outputLines.filter { $0.hasPrefix("middle") } == ["middle 0"])
        script.send(SIGTERM)
        try await script.wait()
    }

    @Test func `an error in an accessor, or in another function of the runtime, has the line of its call`() async throws
    {
        let (daemon, host, client) = try await MacroTests.start([
            "nothing": "() => {\n  return setInnerProgress(undefined)\n}",
            "circle": "() => {\n  const a = []; a.push(a)\n  setInnerProgress(a)\n}",
            "unfit": "() => {\n\n\n  setInnerProgress('x') }",
            "options": "() => {\n  return setInnerProgress(1, {for: '3s'})\n}",
            "handler": "() => {\n\n\n\n  WebViewJavascriptBridge.registerHandler('x', 7) }",
        ])
        defer { withExtendedLifetime((daemon, host)) {} }
        for (name, line): (String, JSONValue) in [
            ("nothing", 2), ("circle", 3), ("unfit", 4), ("options", 2), ("handler", 5),
        ] {
            let failure = try await client.failure("macro", ["run", .string(name)])
            #expect(failure["code"] == "scriptFailed" && failure["line"] == line, "\(name): \(failure)")
            #expect(
                failure["file"]?.stringValue?.hasSuffix("/\(name).js") == true && failure["source"] != nil,
                "\(name)"
            )
        }
    }

    @Test func `logMessage logs an empty text and null, too`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            for (const message of [null, '', undefined, [], [null], [''], 'text']) await makeCall('logMessage', message)
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(0), "\(script.errors)")
        let client = try daemon.connect()
        for line in ["call?cmd=logMessage&msg=null&id=1", "call?cmd=logMessage&msg=&id=1", "call?cmd=logMessage&id=1"] {
            #expect(try await client.ask(line) == "handleJSONRequest?cmd=logMessage&msg=null&id=1")
        }
        func said() -> [String] {
            daemon.log.split(separator: "\n").compactMap { line in
                line.firstMatch(of: /JavaScriptMessage: (.*?) ?\(caller=/).map { String($0.output.1) }
            }
        }
        // A line is written after its call is answered.
        try await eventually("all is logged") { said().count == 10 }
        #expect(said() == ["null", "", "", "", "null", "", "text", "null", "", ""])
    }

    @Test func `macros have the words in quickconnect, and may have their names themselves`() async throws {
        let (daemon, host, client) = try await MacroTests.start([
            "post": "() => 'mine'",
            "watch": """
            async () => {
                seen = []
                off = await quickconnect.value('innerProgress', value => seen.push(value))
                await quickconnect.set('innerProgress', 4)
                await quickconnect.call('ping')
                await off()
                await quickconnect.add('innerProgress')
                return [post(), seen, await quickconnect.value('innerProgress')]
            }
            """,
            "steal": "() => quickconnect.handle('macros', () => 1)",
            "change": "() => { 'use strict'; quickconnect.value = () => 1 }",
        ])
        defer { withExtendedLifetime((daemon, host)) {} }
        #expect(try await client.value("macro", ["run", "watch"]) == ["mine", [0, 4], 5])
        let stolen = try await client.failure("macro", ["run", "steal"])
        #expect(stolen["message"]?.stringValue?.contains("a handler of the runtime itself") == true)
        #expect(try await client.failure("macro", ["run", "change"])["code"] == "scriptFailed")
    }
}
