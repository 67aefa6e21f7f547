import JSON
import QuickConnect
import TestRig
import Testing

/// What is leased to a page whose network is gone, or whose script hangs, which nobody says.
@Suite struct WebLeaseTests {
    private static let motor = """
        motor:
          value: {type: boolean, gpio: {line: GPIO22, output: true}, lease: connection}
          set: {users: ["web:ann"]}

        """
    private static let ping: UInt8 = 9
    private static let pong: UInt8 = 10
    private static let text: UInt8 = 1

    /// A page whose script answers is asked by a line, and any other program by a ping alone.
    @Test(arguments: [false, true])
    func `a page that does not answer any more loses its lease, and one that does keeps it`(script: Bool) async throws {
        let web = try await WebProcess(
            WebProcess.Options(mappings: Self.motor, commands: ["motor", "ping", "subscribe", "accel"])
        )
        let cookie = try await web.cookie(of: "ann")
        let (page, other) = (
            try await web.page(cookie, at: script ? "/bridge?answers" : "/bridge"), try await web.page(cookie)
        )
        let watcher = try web.connect()
        _ = try await watcher.value("subscribe", ["motor"])

        page.say(#"{"handlerName":"motor","data":[true],"callbackId":"1"}"#)
        #expect(try await watcher.nextReply()?.value == true)
        // Longer than a page has to answer one.
        for _ in 1...4 {
            try await question(page, Self.question(script))
            page.send(WebConnection.frame(script ? Self.text : Self.pong, []))
        }
        #expect(try await watcher.value("motor", []) == true)

        // What its browser takes by itself is no answer of its script.
        if script { page.say(#"{"handlerName":"subscribe","data":["accel",{"rate":100}],"callbackId":"3"}"#) }
        try await page.end()
        #expect(try await watcher.nextReply()?.value == false)
        // Who has no lease is not asked.
        let answer = try await other.ask(#"{"handlerName":"ping","callbackId":"2"}"#)
        #expect(answer?.contains(#""responseId":"2""#) == true, "\(answer ?? "")")
    }

    @Test func `the gateway hears of a page's first lease, and when there is none any more`() async throws {
        let web = try await WebProcess(WebProcess.Options(mappings: Self.motor, commands: ["motor"]))
        let gateway = try SocketClient(path: web.folder("web.sock"))
        #expect(try await gateway.ask(#"call?cmd=actFor&msg=["ann",{"leases":true}]&id=1"#) != nil)
        for (value, told) in [(true, #"{"lease":true}"#), (true, nil), (false, #"{"lease":false}"#)] {
            gateway.send(#"{"handlerName":"motor","data":[\#(value)],"callbackId":"1"}"#)
            // Of two threads: in any order.
            let lines = Set([told, #"{"responseId":"1","responseData":\#(value)}"#].compactMap { $0 })
            var got: Set<String?> = []
            for _ in lines { got.insert(try await gateway.next()) }
            #expect(got == lines)
        }
    }

    private static func question(_ script: Bool) -> [UInt8] {
        WebConnection.frame(script ? text : ping, script ? Array(#"{"lease":true}"#.utf8) : [], isMasked: false)
    }

    /// Awaits a frame; what comes before it is the answer of the daemon, and no line between it and the gateway.
    private func question(_ page: WebConnection, _ question: [UInt8]) async throws {
        while let frame = try await page.frame() {
            guard WebConnection.frame(frame.opcode, frame.payload, isMasked: false) != question else { return }
            #expect(String(decoding: frame.payload, as: UTF8.self) == #"{"responseId":"1","responseData":true}"#)
        }
        Issue.record("the page was closed, though it answers")
    }
}
