import JSON
import TestRig
import Testing

@Suite("Answers of a script, as the daemon gets them")
struct AnswerTests {
    private static func call(_ phase: String, _ id: String) -> String {
        #"{"handlerName":"lamp","data":[1],"callbackId":"\#(id)","command":"lamp","phase":"\#(phase)","results":[]}"#
    }

    @Test(arguments: ["validation", "business", "view", "error"])
    func `replyCommand names the command that the answer goes under, in every phase`(phase: String) async throws {
        let daemon = try TinyDaemon()
        let script = try ScriptThread(
            """
            WebViewJavascriptBridge.registerHandler('lamp', (data, respond, call) => {
                call.replyCommand = 'showLamp'
                respond(data[0] + 1)
                WebViewJavascriptBridge.removeHandler('lamp')
            })
            """,
            daemon: daemon
        )
        #expect(try await daemon.answerNext()["data"] == ["lamp"])
        daemon.send(Self.call(phase, "q1"))
        var lines: [String] = []
        for _ in 0..<2 { lines.append(try await daemon.next()) }
        #expect(lines.contains(#"{"responseId":"q1","responseData":2,"handlerName":"showLamp"}"#))
        #expect(try await script.end() == 0)
    }

    @Test func `messages that come together are answered together, in their order`() async throws {
        let daemon = try TinyDaemon()
        let script = try ScriptThread(
            """
            WebViewJavascriptBridge.registerHandler('lamp', (data, respond, call) => {
                if (call.phase === 'error') WebViewJavascriptBridge.removeHandler('lamp')
                respond(call.phase)
            })
            """,
            daemon: daemon
        )
        _ = try await daemon.answerNext()
        daemon.send(Self.call("view", "q1"), Self.call("business", "q2"), Self.call("error", "q3"))
        var answers: [String] = []
        while answers.count < 3 {
            let message = try await daemon.nextMessage()
            if let id = message["responseId"]?.stringValue { answers.append(id) }
        }
        #expect(answers == ["q1", "q2", "q3"])
        #expect(try await script.end() == 0)
    }

    @Test func `a call that came over a lost connection is answered over no other one`() async throws {
        let daemon = try TinyDaemon()
        let script = try ScriptThread(
            """
            let answer
            WebViewJavascriptBridge.registerHandler('lamp', (data, respond) => {
                if (answer) { answer('late'); respond('now'); WebViewJavascriptBridge.removeHandler('lamp') }
                answer = respond
            })
            """,
            daemon: daemon
        )
        _ = try await daemon.answerNext()
        daemon.send(Self.call("view", "q1"), #"{"handlerName":"none","callbackId":"q0"}"#)
        #expect(try await daemon.nextMessage()["responseId"] == "q0")
        daemon.hangUp()
        #expect(try await daemon.answerNext()["data"] == ["lamp"])
        daemon.send(Self.call("view", "q1"))
        var lines: [String] = []
        for _ in 0..<2 { lines.append(try await daemon.next()) }
        #expect(lines.contains(#"{"responseId":"q1","responseData":"now"}"#) && !lines.joined().contains("late"))
        #expect(try await script.end() == 0)
    }

    @Test func `a connection that is lost in the middle of a turn ends no script`() async throws {
        let daemon = try TinyDaemon()
        let script = try ScriptThread(
            """
            quickconnect.on('news', number => {
                if (number === 2) try { makeCallSync('slow') } catch (error) {}
                if (number === 4) makeCall('unsubscribe')
            })
            """,
            daemon: daemon
        )
        _ = try await daemon.answerNext()
        daemon.send(
            #"{"handlerName":"news","data":1}"#,
            #"{"handlerName":"news","data":2}"#,
            #"{"handlerName":"news","data":3}"#
        )
        #expect(try await daemon.nextMessage()["handlerName"] == "slow")
        daemon.hangUp()
        #expect(try await daemon.answerNext()["data"] == ["news"])
        daemon.send(#"{"handlerName":"news","data":4}"#)
        #expect(try await daemon.answerNext()["handlerName"] == "unsubscribe")
        #expect(try await script.end() == 0)
    }

    @Test func `a new connection is told of each subscription once, and of none that was taken back`() async throws {
        let daemon = try TinyDaemon()
        let script = try ScriptThread(
            """
            (async () => {
                for (let i = 0; i < 3; i++) await makeCall('subscribe', ['news', 'weather', {interval: i}])
                await makeCall('unsubscribe', ['weather'])
                mapCommandToVCF('news', () => makeCall('unsubscribe'))
            })()
            """,
            daemon: daemon
        )
        for _ in 0..<4 { _ = try await daemon.answerNext() }
        // The VCF's own.
        _ = try await daemon.answerNext()
        daemon.hangUp()
        var told: [JSONValue] = []
        for _ in 0..<2 { told.append(try await daemon.answerNext()["data"] ?? .null) }
        #expect(told.contains(["news", ["interval": 2]]) && !told.description.contains("weather"))
        daemon.send(#"{"handlerName":"news","data":1}"#)
        #expect(try await daemon.answerNext()["handlerName"] == "unsubscribe")
        #expect(try await script.end() == 0)
    }
}
