import Foundation
import JSON
import TestRig
import Testing

/// Scripts that were written as the page side of WebViewJavascriptBridge, or of the book's hybrid applications, with as
/// much of a `document` as they touch.
@Suite("Scripts of pages")
struct PageTests {
    /// An element that remembers what is done to it, and one document of them.
    private static let document = """
        function Element(tag) { this.tag = tag; this.style = {}; this.children = [] }
        Element.prototype.appendChild = function (child) { this.children.push(child); return child }
        Element.prototype.insertBefore = function (child) { this.children.unshift(child); return child }
        Element.prototype.removeChild = function (child) { this.children = this.children.filter(c => c !== child) }
        var elements = {}
        var document = {
            documentElement: new Element('html'), body: new Element('body'),
            createElement: tag => new Element(tag),
            getElementById: id => elements[id] = elements[id] || new Element(id),
        }

        """

    @Test func `a page finds the bridge as it does in a web view`() async throws {
        let daemon = try await DaemonProcess()
        let native = try daemon.connect()
        _ = try await native.ask(#"{"handlerName":"registerHandler","data":["nativeEcho"],"callbackId":"r"}"#)
        let script = try ScriptProcess.run(
            Self.document + """
                // Looks for the bridge, and else asks for it with a frame, as pages do.
                function setup(callback) {
                    if (window.WebViewJavascriptBridge) { return callback(WebViewJavascriptBridge) }
                    throw new Error('there is no bridge')
                }
                setup(function (bridge) {
                    bridge.disableJavscriptAlertBoxSafetyTimeout()
                    bridge.registerHandler('echo', function (data, responseCallback) { responseCallback(data) })
                    bridge.registerHandler('ask native', function (data, responseCallback) {
                        bridge.callHandler('nativeEcho', {foo: data}, function (response) { responseCallback(response.foo) })
                    })
                    bridge.callHandler('ping', function (answer) {
                        document.getElementById('log').innerHTML = 'ping: ' + answer
                        console.log(document.getElementById('log').innerHTML)
                    })
                    bridge.callHandler('noSuchHandler', null, function (answer, error) { console.log(answer, error.code) })
                })
                """,
            daemon: daemon
        )
        try await script.awaitOutput("null unknownCommand")
        try await script.awaitOutput("ping: null")
        let client = try daemon.connect()
        try await client.awaitCommand("ask native")
        for value: JSONValue in ["a text", "'\"/\\\u{2028}", [1, 2, 3], ["a": 1, "b": 2]] {
            let message: JSONValue = ["handlerName": "echo", "data": value, "callbackId": "1"]
            let answer = try await client.ask(message.text)
            #expect(answer == JSONValue.object(["responseId": "1", "responseData": value]).text)
        }
        // The native side answers what it got.
        client.send(#"{"handlerName":"ask native","data":7,"callbackId":"2"}"#)
        let call = try #require(try await native.nextMessage())
        #expect(call["data"] == ["foo": 7])
        let response: JSONObject = ["responseId": call["callbackId"] ?? .null, "responseData": call["data"] ?? .null]
        native.send(JSONValue.object(response).text)
        #expect(try await client.next() == #"{"responseId":"2","responseData":7}"#)
    }

    @Test func `the safety timeout may be disabled under both spellings, from either side`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            WebViewJavascriptBridge.disableJavscriptAlertBoxSafetyTimeout()
            WebViewJavascriptBridge.disableJavascriptAlertBoxSafetyTimeout()
            for (const name of ['_disableJavascriptAlertBoxSafetyTimeout', '_disableJavscriptAlertBoxSafetyTimeout']) {
                WebViewJavascriptBridge._handleMessageFromObjC(JSON.stringify({handlerName: name, callbackId: 'objc_cb_1'}))
            }
            console.log('alive')
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines == ["alive"] && script.errors == "")
    }

    @Test func `callbacks that wait in WVJBCallbacks are called`() async throws {
        let script = try ScriptProcess.run(
            """
            window.WVJBCallbacks = [bridge => console.log(bridge === WebViewJavascriptBridge)]
            setupWebViewJavascriptBridge(bridge => console.log(typeof bridge.callHandler))
            console.log(WebViewJavascriptBridge._fetchQueue())
            """,
            daemon: nil
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines == ["function", "[]", "true"])
    }

    @Test func `messages may be handed in as the native side does`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            WebViewJavascriptBridge.registerHandler('greet', (data, respond) => { console.log(data); respond('hi') })
            WebViewJavascriptBridge._handleMessageFromObjC(JSON.stringify({handlerName: 'greet', data: 'hello'}))
            """,
            daemon: daemon
        )
        try await script.awaitOutput("hello")
    }

    /// The functions of the book's chapter 4: event handlers that make calls, VCFs that show what comes back.
    @Test func `the device catalogue of the book`() async throws {
        let daemon = try await DaemonProcess()
        let picker = try await PickerProcess(daemon.socket, "--answer", "2026-01-01 12:00")
        let script = try ScriptProcess.run(
            Self.document + """
                mapCommandToVCF('showLoc', function (data, paramArray) {
                    document.getElementById('place').innerText = 'latitude: ' + paramArray[0] + '\\naltitude: ' + paramArray[2]
                    console.log(document.getElementById('place').innerText.split('\\n').length)
                })
                function displayPickerSelectionVCF(data, paramArray) {
                    document.getElementById('pickerResults').innerHTML = paramArray[0]
                    console.log('picked ' + document.getElementById('pickerResults').innerHTML)
                }
                mapCommandToVCF('showPickResults', displayPickerSelectionVCF)
                function showDateSelector(event) {
                    makeCall("showDate", "DateTime");
                }
                mapCommandToVCF('showDate', function () { console.log('not this way') })
                mapCommandToVCF('accel', function (data, param) { console.log('x: ' + param.x) })
                makeCall('playSound', -1)
                makeCall('playSound', 0)
                makeCall('logMessage', 'from the page')
                makeCall('loc')
                showDateSelector()
                var params = new Array()
                params[0] = 'recordedFile.caf'
                params[1] = 'start'
                makeCall('rec', JSON.stringify(params))
                params[1] = 'stop'
                makeCall('rec', JSON.stringify(params))
                """,
            daemon: daemon
        )
        // The VCF of accel keeps it alive.
        for line in ["2\n", "picked 2026-01-01 12:00:00 +0000", "x: "] { try await script.awaitOutput(line) }
        try await eventually("all is over") {
            try await daemon.client("call", "state").output.contains(#""playing":[],"recording":[],"vibrating":[]"#)
        }
        #expect(!script.output.contains("not this way"))
        // Nothing of it is unsupported, vibrating neither.
        #expect(!script.errors.contains("playSound") && !script.errors.contains("accel"))
        #expect(!script.errors.contains("unsupported"))
        withExtendedLifetime(picker) {}
    }

    @Test func `an address that begins with call is a call`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            """
            // com.js of the book: one call at a time, the others wait.
            function makeCall(command, text) {
                var query = 'cmd=' + command + '&msg=' + text
                if (storeMessage || !canSend) { messages.push(query) } else { storeMessage = true; window.location = 'call?' + query }
            }
            mapCommandToVCF('commands', () => console.log('commands'))
            mapCommandToVCF('hello', () => console.log('hello'))
            makeCall('logMessage', 'a&b=50%')
            makeCall('commands')
            window.location.href = 'call?cmd=hello&id=7'
            location = 'call?cmd=logMessage&msg=%5B%22encoded%22%5D'
            location = 'https://example.com/'
            """,
            daemon: daemon
        )
        #expect(try await script.end() == .status(0))
        #expect(Set(script.lines) == ["hello", "commands"])
        #expect(script.errors.contains("there is no page to go to: https://example.com/"))
        try await eventually("both are logged") {
            daemon.log.contains("a&b=50%") && daemon.log.contains(": encoded")
        }
    }
}
