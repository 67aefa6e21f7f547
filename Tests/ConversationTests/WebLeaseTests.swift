import JSON
import QuickConnect
import TestRig
import Testing

/// What is leased to a page whose network is gone, which nobody says.
@Suite struct WebLeaseTests {
    private static let motor = """
        motor:
          value: {type: boolean, gpio: {line: GPIO22, output: true}, lease: connection}
          set: {users: ["web:ann"]}

        """
    private static let ping: UInt8 = 9
    private static let pong: UInt8 = 10

    @Test func `a page that answers no ping any more loses its lease, and one that does keeps it`() async throws {
        let web = try await WebProcess(WebProcess.Options(mappings: Self.motor, commands: ["motor", "ping"]))
        let cookie = try await web.cookie(of: "ann")
        let (page, other) = (try await web.page(cookie), try await web.page(cookie))
        let watcher = try web.connect()
        _ = try await watcher.value("subscribe", ["motor"])

        page.say(#"{"handlerName":"motor","data":[true],"callbackId":"1"}"#)
        #expect(try await watcher.nextReply()?.value == true)
        // Longer than a page has to answer one.
        for _ in 1...4 {
            try await answer(page)
            page.send(WebConnection.frame(Self.pong, []))
        }
        #expect(try await watcher.value("motor", []) == true)

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

    /// Awaits a ping; what comes before it is the answer of the daemon, and no line between it and the gateway.
    private func answer(_ page: WebConnection) async throws {
        while let frame = try await page.frame() {
            if frame.opcode == Self.ping { return #expect(frame.payload.isEmpty) }
            let line = String(decoding: frame.payload, as: UTF8.self)
            #expect(line == #"{"responseId":"1","responseData":true}"#)
        }
        Issue.record("the page was closed, though it answers")
    }
}
