import Testing

@testable import quickconnect_scripts

@Suite("The calls that a script has not answered")
struct HandlerCallsTests {
    @Test func `each is ended once, and the oldest is known`() {
        let calls = HandlerCalls()
        #expect(calls.isEmpty && calls.oldest == nil)
        calls.begin("a", handler: "one")
        let oldest = calls.oldest
        calls.begin("b", handler: "two")
        #expect(oldest != nil && calls.oldest == oldest)
        #expect(calls.end("a"))
        #expect(!calls.end("a"))
        #expect(calls.oldest != oldest && calls.oldest != nil)
        #expect(calls.end("b"))
        #expect(calls.isEmpty && calls.oldest == nil)
    }

    @Test func `those that came before an instant are taken`() {
        let calls = HandlerCalls()
        calls.begin("a", handler: "one")
        let instant = ContinuousClock.now
        calls.begin("b", handler: "two")
        #expect(calls.take(before: instant).map(\.id) == ["a"])
        #expect(!calls.end("a"))
        #expect(calls.take().map(\.handler) == ["two"])
        #expect(calls.isEmpty)
    }

    @Test func `the calls among the messages that the script is given now are running`() {
        let calls = HandlerCalls()
        #expect(calls.running.isEmpty)
        let messages = """
            [{"handlerName":"x","callbackId":"q1","data":[1]},{"responseId":"c1","responseData":null},
            {"handlerName":"accel","data":{}}]
            """
        calls.current = Array(messages.utf8)
        #expect(calls.running.map(\.id) == ["q1"])
        #expect(calls.running.map(\.handler) == ["x"])
        calls.current = nil
        #expect(calls.running.isEmpty)
    }
}
