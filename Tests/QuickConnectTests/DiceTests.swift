import QuickConnect
import Testing

/// The example of docs/native-commands.md, as it stands there.
@Suite("A command of one's own")
struct DiceTests {
    @Test("answers, and refuses what no dice has")
    func dice() async throws {
        try await withDaemon({ $0.map("dice", .object(DiceBCO { $0.upperBound }, .business)) }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"dice","data":20,"callbackId":"1"}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":{"sides":20,"shows":20}}"#)
            client.send(#"{"handlerName":"dice","data":1,"callbackId":"2"}"#)
            #expect(await client.next().contains(#""code":"invalid""#))
            client.send(#"{"handlerName":"dice","data":1000,"callbackId":"3"}"#)
            #expect(await client.next().contains(#""largest":100"#))
        }
    }

    @Test("rolls what its dice has", arguments: 1...20)
    func range(_: Int) async throws {
        try await withDaemon({ $0.map("dice", .object(DiceBCO(), .business)) }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"dice","data":2,"callbackId":"1"}"#)
            let line = await client.next()
            #expect(line.hasSuffix(#""shows":1}}"#) || line.hasSuffix(#""shows":2}}"#), "\(line)")
        }
    }
}
