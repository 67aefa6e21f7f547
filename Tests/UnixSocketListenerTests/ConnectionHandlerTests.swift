import JSON
import NIOCore
import NIOEmbedded
import QuickConnect
import TestRig
import Testing

@testable import UnixSocketListener

@Suite("One client's connection on its event loop", .timeLimit(.minutes(5)))
struct ConnectionHandlerTests {
    @Test("Lines in any pieces are answered in their order")
    func pieces() async throws {
        try await withConnections { connections in
            let client = try await connections.connect()
            let text = (1...50).map {
                "call?cmd=ping&id=\($0)\r\n\n{\"handlerName\":\"echo\",\"data\":\($0),\"callbackId\":\"x\"}\n"
            }
            .joined()
            var rest = text[...]
            var size = 1
            while !rest.isEmpty {
                try await client.send(String(rest.prefix(size)))
                rest = rest.dropFirst(size)
                size = size % 17 + 1
            }
            let expected = (1...50).flatMap {
                ["handleJSONRequest?cmd=ping&msg=null&id=\($0)", #"{"responseId":"x","responseData":\#($0)}"#]
            }
            #expect(try await client.lines(100) == expected)
        }
    }

    @Test("Batches of many members are worked off in slices, each is answered, and others have their turn in between")
    func slices() async throws {
        try await withConnections { connections in
            let (client, other) = (try await connections.connect(), try await connections.connect())
            let count = 30_000
            let members = (0..<count).map { #"{"handlerName":"ping","callbackId":"\#($0)"}"# }
            let batches = stride(from: 0, to: count, by: 1000).map {
                "[\(members[$0..<($0 + 1000)].joined(separator: ","))]\n"
            }
            // The loop does not run yet: this is the first slice alone.
            try await client.send(batches.joined() + "call?cmd=ping&id=last\n")
            let first = try await client.take()
            try await other.send("call?cmd=ping&id=other\n")
            #expect(try await other.lines(1) == ["handleJSONRequest?cmd=ping&msg=null&id=other"])
            var lines = (first + (try await client.take())).split(separator: "\n").map(String.init)
            // None, where the time of a slice was over when the first batch had been read.
            #expect(lines.count < count)
            lines += try await client.lines(count + 1 - lines.count)
            Self.expectPings(lines, count)
        }
    }

    @Test("Each member of a batch that is read beside the event loop is answered, in its order")
    func longBatch() async throws {
        try await withConnections { connections in
            let client = try await connections.connect()
            let count = 50_000
            let members = (0..<count).map { #"{"handlerName":"ping","callbackId":"\#($0)"}"# }
            try await client.send("[\(members.joined(separator: ","))]\ncall?cmd=ping&id=last\n")
            Self.expectPings(try await client.lines(count + 1), count)
        }
    }

    private static func expectPings(_ lines: [String], _ count: Int) {
        #expect(lines.count == count + 1)
        #expect(lines.last == "handleJSONRequest?cmd=ping&msg=null&id=last")
        let wrong = lines.dropLast().enumerated().first { $1 != #"{"responseId":"\#($0)","responseData":null}"# }
        #expect(wrong == nil)
    }

    @Test("Many lines that come at once are worked off in slices too")
    func manyLines() async throws {
        try await withConnections { connections in
            let (client, other) = (try await connections.connect(), try await connections.connect())
            let count = 50_000
            try await client.send((0..<count).map { "call?cmd=ping&id=\($0)\n" }.joined())
            try await other.send("call?cmd=ping&id=other\n")
            #expect(try await other.lines(1) == ["handleJSONRequest?cmd=ping&msg=null&id=other"])
            let first = try await client.take().split(separator: "\n")
            #expect(!first.isEmpty && first.count < count)
            let lines = first.map(String.init) + (try await client.lines(count - first.count))
            #expect(lines == (0..<count).map { "handleJSONRequest?cmd=ping&msg=null&id=\($0)" })
        }
    }

    @Test("A line of 300 KiB is answered in order with those behind it, in either form")
    func longLine() async throws {
        try await withConnections { connections in
            let client = try await connections.connect()
            let text = String(repeating: "x", count: 300 << 10)
            try await client.send(
                """
                call?cmd=ping&id=1
                {"handlerName":"echo","data":["\(text)"],"callbackId":"2"}
                call?cmd=ping&id=3
                call?cmd=echo&msg=%22\(text)%22&id=4
                [{"handlerName":"ping","data":"\(text)","callbackId":"5"},{"handlerName":"ping","callbackId":"6"}]

                """
            )
            try await client.send("call?cmd=ping&id=7\n")
            let lines = try await client.lines(7)
            #expect(
                lines == [
                    "handleJSONRequest?cmd=ping&msg=null&id=1", #"{"responseId":"2","responseData":"\#(text)"}"#,
                    "handleJSONRequest?cmd=ping&msg=null&id=3", "handleJSONRequest?cmd=echo&msg=%22\(text)%22&id=4",
                    #"{"responseId":"5","responseData":null}"#, #"{"responseId":"6","responseData":null}"#,
                    "handleJSONRequest?cmd=ping&msg=null&id=7",
                ]
            )
        }
    }

    @Test("A reply, or an event, of megabytes goes out whole to a client that reads at once")
    func largeReply() async throws {
        try await withConnections { connections in
            let client = try await connections.connect()
            let text = String(repeating: "x%", count: 1_000_000)
            try await client.send(#"{"handlerName":"echo","data":["\#(text)"],"callbackId":"1"}"# + "\n")
            #expect(try await client.lines(1) == [#"{"responseId":"1","responseData":"\#(text)"}"#])
            let encoded = PercentEncoding.encode("[\"\(text)\"]")
            try await client.send("call?cmd=echo&msg=\(encoded)&id=2\ncall?cmd=ping&id=3\n")
            let reply = "handleJSONRequest?cmd=echo&msg=\(PercentEncoding.encode("\"\(text)\""))&id=2"
            #expect(try await client.lines(2) == [reply, "handleJSONRequest?cmd=ping&msg=null&id=3"])
            try connections.router.events.subscribe(
                try await client.connection,
                to: ["news"],
                options: [:],
                form: .bridge
            )
            connections.router.events.publish(Event("news", .string(text), kind: .message))
            #expect(try await client.lines(1) == [#"{"handlerName":"news","data":"\#(text)"}"#])
        }
    }

    @Test("A line that is too long is answered tooLarge, once, in its form; the next one is read")
    func overlong() async throws {
        var limits = Limits()
        limits.lineBytes = 1024
        try await withConnections(limits: limits) { connections in
            let client = try await connections.connect()
            for start in ["call?cmd=ping&msg=", #"{"handlerName":"ping","data":""#] {
                try await client.send(start)
                for _ in 0..<100 { try await client.send(String(repeating: "x", count: 100)) }
                try await client.send("\ncall?cmd=ping&id=1\n")
            }
            let lines = try await client.lines(4)
            #expect(lines.count == 4)
            #expect(lines[0].hasPrefix("handleJSONRequest?cmd=error&msg=%7B%22code%22%3A%22tooLarge%22"))
            #expect(lines[2].hasPrefix(#"{"error":{"code":"tooLarge""#))
            #expect(lines[1] == lines[3] && lines[1] == "handleJSONRequest?cmd=ping&msg=null&id=1")
        }
    }

    @Test("At the end of input what came before is answered, a long line too; then the connection closes")
    func endOfInput() async throws {
        try await withConnections { connections in
            let client = try await connections.connect()
            let text = String(repeating: "x", count: 100_000)
            try await client.send(#"{"handlerName":"echo","data":["\#(text)"],"callbackId":"1"}"# + "\n")
            try await client.send("call?cmd=ping&id=2\ncall?cmd=ping&id=dropped")
            try await client.endInput()
            #expect(
                try await client.lines(2)
                    == [#"{"responseId":"1","responseData":"\#(text)"}"#, "handleJSONRequest?cmd=ping&msg=null&id=2"]
            )
            try await client.channel.closeFuture.get()
        }
    }

    // MARK: Clients that do not read

    @Test("A client that does not read is not read either, and gets all of it, in order, when it does")
    func paused() async throws {
        try await withConnections { connections in
            let client = try await connections.connect()
            let text = String(repeating: "x", count: 30_000)
            try await client.setReading(false)
            for id in 0..<100 {
                try await client.send(#"{"handlerName":"echo","data":["\#(text)"],"callbackId":"\#(id)"}"# + "\n")
                await connections.loop.advanceTime(by: .milliseconds(1))
            }
            #expect(try await client.take() == "")
            try await client.setReading(true)
            let lines = try await client.lines(100)
            #expect(lines == (0..<100).map { #"{"responseId":"\#($0)","responseData":"\#(text)"}"# })
        }
    }

    @Test("While a client does not read, of a sensor's values the newest waits for it, and every message does")
    func sensors() async throws {
        try await withConnections { connections in
            let client = try await connections.connect()
            let connection = try await client.connection
            try connections.router.events.subscribe(
                connection,
                to: ["tilt", "news", "dropped"],
                options: [:],
                form: .bridge
            )
            try await client.setReading(false)
            try await client.send(
                (0..<20).map { _ in "call?cmd=echo&msg=%22\(String(repeating: "x", count: 30_000))%22&id=1\n" }.joined()
            )
            await connections.loop.advanceTime(by: .milliseconds(1))
            for number in 1...5 {
                connections.router.events.publish(Event("tilt", .integer(Int64(number)), kind: .sensor))
                connections.router.events.publish(Event("news", .integer(Int64(number)), kind: .message))
            }
            await connections.loop.advanceTime(by: .milliseconds(1))
            try await client.setReading(true)
            let lines = try await client.lines(20 + 7).filter { $0.hasPrefix("{") }
            #expect(
                Set(lines)
                    == Set((1...5).map { #"{"handlerName":"news","data":\#($0)}"# }).union([
                        #"{"handlerName":"tilt","data":5}"#,
                        #"{"handlerName":"dropped","data":{"event":"tilt","count":4}}"#,
                    ])
            )
            connections.router.events.publish(Event("tilt", 6, kind: .sensor))
            #expect(try await client.lines(1) == [#"{"handlerName":"tilt","data":6}"#])
        }
    }

    @Test("A client that turns out to read while another one's call is running goes on behind that call")
    func resumedByOthers() async throws {
        try await withConnections { connections in
            let (client, other) = (try await connections.connect(), try await connections.connect())
            try connections.router.events.subscribe(
                try await client.connection,
                to: ["news"],
                options: [:],
                form: .bridge
            )
            try await client.setReading(false)
            let text = String(repeating: "x", count: 30_000)
            let calls = (0..<50).map { #"{"handlerName":"echo","data":["\#(text)"],"callbackId":"\#($0)"}"# + "\n" }
            try await client.send(calls.joined())
            await connections.loop.advanceTime(by: .milliseconds(1))
            // It has room for more, and is not asked for input yet: what a line begins with and its text are two pieces.
            for _ in 0..<2 { try await client.readOne() }
            try await client.readWithNextBytes()
            let news = String(repeating: "n", count: 70_000)
            try await other.send(#"{"handlerName":"post","data":["news","\#(news)"],"callbackId":"1"}"# + "\n")
            #expect(try await other.lines(1) == [#"{"responseId":"1","responseData":null}"#])
            var lines = try await client.lines(51)
            lines.removeAll { $0 == #"{"handlerName":"news","data":"\#(news)"}"# }
            #expect(lines == (0..<50).map { #"{"responseId":"\#($0)","responseData":"\#(text)"}"# })
        }
    }

    @Test("Calls to a handler that reads slowly wait for their callers' turns, and each cancel stays behind its call")
    func callsInTurns() async throws {
        try await withConnections { connections in
            let handler = try await connections.connect()
            let (ann, bob) = (try await connections.connect(as: 1000), try await connections.connect(as: 1001))
            try connections.router.register("slow", of: try await handler.connection, hearsCancel: true)
            try await handler.setReading(false)
            let text = String(repeating: "x", count: 30_000)
            try await ann.send((0..<20).map { "call?cmd=slow&msg=%22\(text)%22&id=\($0)\n" }.joined())
            await connections.loop.advanceTime(by: .milliseconds(1))
            try await ann.channel.close()
            try await bob.send("call?cmd=slow&msg=%22bob%22&id=b\n")
            await connections.loop.advanceTime(by: .milliseconds(1))
            try await handler.setReading(true)
            let lines = try await handler.lines(41)
            let bobs = lines.firstIndex { $0.contains(#"["bob"]"#) }
            #expect(try #require(bobs) < 4, "\(lines.map { $0.suffix(120) })")
            for number in 1...20 {
                let call = lines.firstIndex { $0.contains(#""callbackId":"q\#(number)""#) }
                let cancel = lines.firstIndex { $0 == #"{"handlerName":"cancel","data":["q\#(number)"]}"# }
                #expect(try #require(call) < #require(cancel))
            }
        }
    }

    @Test("A caller with its share of the calls that wait for a handler is told overloaded, and others' are sent")
    func callsWithinShares() async throws {
        var limits = Limits()
        limits.replyBytes = 1 << 20
        try await withConnections(limits: limits) { connections in
            let handler = try await connections.connect()
            let (ann, bob) = (try await connections.connect(as: 1000), try await connections.connect(as: 1001))
            try connections.router.register("slow", of: try await handler.connection)
            try await handler.setReading(false)
            let text = String(repeating: "x", count: 30_000)
            try await ann.send((0..<20).map { "call?cmd=slow&msg=%22\(text)%22&id=\($0)\n" }.joined())
            let refused = try await ann.lines(10)
            #expect(refused.allSatisfy { $0.contains("overloaded") })
            try await bob.send("call?cmd=slow&msg=%22bob%22&id=b\n")
            await connections.loop.advanceTime(by: .milliseconds(1))
            try await handler.setReading(true)
            let lines = try await handler.lines(21 - refused.count)
            #expect(lines.contains { $0.contains(#"["bob"]"#) }, "\(refused.count): \(lines.map { $0.suffix(200) })")
            let toBob = try await bob.take()
            #expect(toBob == "")
        }
    }

    @Test("What a handler's client does not read besides calls counts against its share, also after a long call")
    func eventsAfterCalls() async throws {
        var limits = Limits()
        (limits.lineBytes, limits.replyBytes, limits.keptBytes) = (3 << 20, 7 << 19, 7 << 20)
        try await withConnections(limits: limits) { connections in
            let (handler, caller) = (try await connections.connect(as: 1000), try await connections.connect())
            let connection = try await handler.connection
            try connections.router.register("take", of: connection)
            try connections.router.events.subscribe(connection, to: ["news"], options: [:], form: .bridge)
            let text = String(repeating: "x", count: 2_900_000)
            try await caller.send("call?cmd=take&msg=%22\(text)%22&id=1\n")
            #expect(try await handler.lines(1).count == 1)
            try await handler.setReading(false)
            let news = JSONValue.string(String(repeating: "n", count: 100_000))
            var count = 0
            while count < 60, !connection.isClosed {
                connections.router.events.publish(Event("news", news, kind: .message))
                await connections.loop.advanceTime(by: .milliseconds(1))
                count += 1
            }
            #expect((12..<25).contains(count), "\(count) events of 100 KB, of a share of 1.75 MiB")
        }
    }

    @Test("A batch whose answers nobody reads counts for its user, until they are read")
    func unreadBatch() async throws {
        try await withConnections { connections in
            let client = try await connections.connect(as: 1000)
            try await client.setReading(false)
            let member = #"{"handlerName":"ping","callbackId":"\#(String(repeating: "i", count: 100))"}"#
            let batch = "[" + [String](repeating: member, count: 20_000).joined(separator: ",") + "]\n"
            try await client.send(batch)
            try await eventually("it has been read") {
                await connections.loop.advanceTime(by: .milliseconds(1))
                return connections.router.memory.use.used > batch.utf8.count
            }
            for _ in 0..<100 { await connections.loop.advanceTime(by: .milliseconds(1)) }
            #expect(connections.router.memory.use.used > batch.utf8.count)
            try await client.setReading(true)
            #expect(try await client.lines(20_000).count == 20_000)
            #expect(connections.router.memory.use.used == 0)
        }
    }

    @Test("Others have their turns while a thousand handlers of a connection end, and who wants to know hears of each")
    func manyHandlersEnd() async throws {
        try await withConnections { connections in
            let (client, other) = (try await connections.connect(as: 1000), try await connections.connect(as: 1001))
            var listeners: [TestPeer] = []
            for _ in 0..<50 { listeners.append(try await connections.connect(as: 1000)) }
            for number in 0..<1000 {
                try connections.router.register("h\(number)", of: try await client.connection)
            }
            for listener in listeners {
                try connections.router.events.subscribe(
                    try await listener.connection,
                    to: ["handlers"],
                    options: [:],
                    form: .bridge
                )
            }
            try await client.channel.close()
            #expect(connections.router.handlers.count == 0)
            // The loop has not run yet: this is what the first turn has told.
            let early = try await listeners[0].take().split(separator: "\n").count
            #expect(early < 1000)
            try await other.send("call?cmd=ping&id=1\n")
            #expect(try await other.lines(1) == ["handleJSONRequest?cmd=ping&msg=null&id=1"])
            for (index, listener) in listeners.enumerated() {
                let count = 1000 - (index == 0 ? early : 0)
                let lines = try await listener.lines(count)
                #expect(lines.count == count)
                #expect(lines.allSatisfy { $0.contains(#""registered":false"#) })
            }
        }
    }

    @Test("Who goes with much left to process loses its handlers' names to the next one at once")
    func leftNames() async throws {
        try await withConnections { connections in
            let (client, other) = (try await connections.connect(), try await connections.connect())
            try connections.router.register("mine", of: try await client.connection)
            let text = String(repeating: "x", count: 5000)
            try await client.send((0..<3000).map { "call?cmd=echo&msg=%22\(text)%22&id=\($0)\n" }.joined())
            try await client.channel.close()
            try connections.router.register("mine", of: try await other.connection)
            #expect(connections.router.handlers.count == 1)
        }
    }

    @Test("A client for which more than the limit waits is dropped")
    func tooMuch() async throws {
        var limits = Limits()
        limits.replyBytes = 1 << 20
        try await withConnections(limits: limits) { connections in
            let client = try await connections.connect()
            let connection = try await client.connection
            try connections.router.events.subscribe(connection, to: ["news"], options: [:], form: .bridge)
            try await client.setReading(false)
            let news = Event("news", .string(String(repeating: "x", count: 50_000)), kind: .message)
            for _ in 0..<20 {
                connections.router.events.publish(news)
                await connections.loop.advanceTime(by: .milliseconds(1))
            }
            #expect(!connection.isClosed)
            for _ in 0..<5 {
                connections.router.events.publish(news)
                await connections.loop.advanceTime(by: .milliseconds(1))
            }
            try await client.channel.closeFuture.get()
            #expect(connection.isClosed)
        }
    }

    @Test("A paused client that reads nothing for the limit's time is dropped, one that reads a little is not")
    func stalled() async throws {
        var limits = Limits()
        limits.stalledSeconds = 10
        try await withConnections(limits: limits) { connections in
            let client = try await connections.connect()
            let connection = try await client.connection
            try await client.setReading(false)
            let calls = (0..<20).map { _ in "call?cmd=echo&msg=%22\(String(repeating: "x", count: 30_000))%22&id=1\n" }
            try await client.send(calls.joined())
            await connections.loop.advanceTime(by: .seconds(9))
            #expect(!connection.isClosed)
            try await client.readOne()
            await connections.loop.advanceTime(by: .seconds(9))
            #expect(!connection.isClosed)
            await connections.loop.advanceTime(by: .seconds(12))
            try await client.channel.closeFuture.get()
            #expect(connection.isClosed)
        }
    }
}
