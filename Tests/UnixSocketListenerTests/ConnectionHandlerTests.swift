import JSON
import QuickConnect
import Runtime
import TestRig
import Testing

@Suite("One client's connection on its event loop", .timeLimit(.minutes(5)))
struct ConnectionHandlerTests {
    @Test("Lines in any pieces are answered in their order")
    func pieces() async throws {
        try await withConnections { connections in
            let client = try connections.connect()
            let text = (1...50).map {
                "call?cmd=ping&id=\($0)\r\n\n{\"handlerName\":\"echo\",\"data\":\($0),\"callbackId\":\"x\"}\n"
            }
            .joined()
            var rest = text[...]
            var size = 1
            while !rest.isEmpty {
                client.send(String(rest.prefix(size)))
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
            let (client, other) = (try connections.connect(), try connections.connect())
            let count = 30_000
            let members = (0..<count).map { #"{"handlerName":"ping","callbackId":"\#($0)"}"# }
            let batches = stride(from: 0, to: count, by: 1000).map {
                "[\(members[$0..<($0 + 1000)].joined(separator: ","))]\n"
            }
            client.send(batches.joined() + "call?cmd=ping&id=last\n")
            connections.step()
            other.send("call?cmd=ping&id=other\n")
            #expect(try await other.lines(1) == ["handleJSONRequest?cmd=ping&msg=null&id=other"])
            #expect(!client.hasSentAll)
            Self.expectPings(try await client.lines(count + 1), count)
        }
    }

    @Test("Each member of a batch that is read beside the event loop is answered, in its order")
    func longBatch() async throws {
        try await withConnections { connections in
            let client = try connections.connect()
            let count = 50_000
            let members = (0..<count).map { #"{"handlerName":"ping","callbackId":"\#($0)"}"# }
            client.send("[\(members.joined(separator: ","))]\ncall?cmd=ping&id=last\n")
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
            let (client, other) = (try connections.connect(), try connections.connect())
            let count = 50_000
            client.send((0..<count).map { "call?cmd=ping&id=\($0)\n" }.joined())
            connections.step()
            other.send("call?cmd=ping&id=other\n")
            #expect(try await other.lines(1) == ["handleJSONRequest?cmd=ping&msg=null&id=other"])
            #expect(!client.hasSentAll)
            let lines = try await client.lines(count)
            #expect(lines == (0..<count).map { "handleJSONRequest?cmd=ping&msg=null&id=\($0)" })
        }
    }

    @Test("A line of 300 KiB is answered in order with those behind it, in either form")
    func longLine() async throws {
        try await withConnections { connections in
            let client = try connections.connect()
            let text = String(repeating: "x", count: 300 << 10)
            client.send(
                """
                call?cmd=ping&id=1
                {"handlerName":"echo","data":["\(text)"],"callbackId":"2"}
                call?cmd=ping&id=3
                call?cmd=echo&msg=%22\(text)%22&id=4
                [{"handlerName":"ping","data":"\(text)","callbackId":"5"},{"handlerName":"ping","callbackId":"6"}]

                """
            )
            client.send("call?cmd=ping&id=7\n")
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
            let client = try connections.connect()
            let text = String(repeating: "x%", count: 1_000_000)
            client.send(#"{"handlerName":"echo","data":["\#(text)"],"callbackId":"1"}"# + "\n")
            #expect(try await client.lines(1) == [#"{"responseId":"1","responseData":"\#(text)"}"#])
            let encoded = PercentEncoding.encode("[\"\(text)\"]")
            client.send("call?cmd=echo&msg=\(encoded)&id=2\ncall?cmd=ping&id=3\n")
            let reply = "handleJSONRequest?cmd=echo&msg=\(PercentEncoding.encode("\"\(text)\""))&id=2"
            #expect(try await client.lines(2) == [reply, "handleJSONRequest?cmd=ping&msg=null&id=3"])
            try connections.router.events.subscribe(
                client.connection,
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
            let client = try connections.connect()
            for start in ["call?cmd=ping&msg=", #"{"handlerName":"ping","data":""#] {
                client.send(start)
                for _ in 0..<100 { client.send(String(repeating: "x", count: 100)) }
                client.send("\ncall?cmd=ping&id=1\n")
            }
            let lines = try await client.lines(4)
            #expect(lines.count == 4)
            #expect(lines[0].hasPrefix("handleJSONRequest?cmd=error&msg=%7B%22code%22%3A%22tooLarge%22"))
            #expect(lines[2].hasPrefix(#"{"error":{"code":"tooLarge""#))
            #expect(lines[1] == lines[3] && lines[1] == "handleJSONRequest?cmd=ping&msg=null&id=1")
        }
    }

    @Test(
        "Whose call was too long is told, wherever its id is",
        arguments: [
            (#"{"handlerName":"ping","data":["#, #"],"callbackId":"7"}"#),
            (#"{"handlerName":"ping","data":["#, #"] , "callbackId" : "7" } "#),
            (#"{"callbackId":"7","handlerName":"ping","data":["#, "]}"),
            (#"{"data":1,"callbackId":"\u0037","data":["#, "]}\r"),
            ("call?cmd=ping&id=7&msg=[", "]"), ("call?id=7&cmd=ping&msg=[", "]\r"),
            ("call?cmd=ping&msg=[", "]&id=%37\r"),
        ]
    )
    func idOfOverlong(start: String, end: String) async throws {
        var limits = Limits()
        limits.lineBytes = 1024
        try await withConnections(limits: limits) { connections in
            let client = try connections.connect()
            // In one piece, and in pieces.
            client.send(start + #""\"callbackId\":\"8\"}","# + String(repeating: "1,", count: 1000) + "1" + end + "\n")
            client.send(start)
            for _ in 0..<1000 { client.send("1,") }
            for byte in end.unicodeScalars { client.send("\(byte)") }
            client.send("\n")
            let isURL = start.hasPrefix("call?")
            let expected = isURL ? "&id=7" : #"{"responseId":"7","error":{"code":"tooLarge""#
            for line in try await client.lines(2) {
                #expect(isURL ? line.hasSuffix(expected) : line.hasPrefix(expected))
            }
        }
    }

    @Test(
        "What only looks like an id is none",
        arguments: [
            (#"{"handlerName":"ping","data":["#, #","callbackId":"7"]}"#),
            (#"{"handlerName":"ping","data":{"a":["#, #"],"callbackId":"7"}}"#),
            (#"{"handlerName":"ping","data":["#, #"\"callbackId\":\"7\"}"]}"#),
            (#"{"handlerName":"ping","data":["#, #"],"callbackId":7}"#),
            ("call?cmd=ping&msg=[", "]&idle=7"), ("call?cmd=ping&msg=[", "]"),
        ]
    )
    func noID(start: String, end: String) {
        let line = OverlongLine(Array((start + String(repeating: "1,", count: 1000) + end).utf8))
        #expect(line.callID == nil)
    }

    @Test("At the end of input what came before is answered, a long line too; then the connection closes")
    func endOfInput() async throws {
        try await withConnections { connections in
            let client = try connections.connect()
            let text = String(repeating: "x", count: 100_000)
            client.send(#"{"handlerName":"echo","data":["\#(text)"],"callbackId":"1"}"# + "\n")
            client.send("call?cmd=ping&id=2\ncall?cmd=ping&id=dropped")
            client.endInput()
            #expect(
                try await client.lines(2)
                    == [#"{"responseId":"1","responseData":"\#(text)"}"#, "handleJSONRequest?cmd=ping&msg=null&id=2"]
            )
            try await client.untilClosed()
        }
    }

    // MARK: Clients that do not read

    @Test("A client that does not read is not read either, and gets all of it, in order, when it does")
    func paused() async throws {
        try await withConnections { connections in
            let client = try connections.connect()
            let text = String(repeating: "x", count: 30_000)
            for id in 0..<100 {
                client.send(#"{"handlerName":"echo","data":["\#(text)"],"callbackId":"\#(id)"}"# + "\n")
                connections.settle()
            }
            #expect(!client.hasSentAll && connections.router.memory.use.used < 1 << 20)
            let lines = try await client.lines(100)
            #expect(lines == (0..<100).map { #"{"responseId":"\#($0)","responseData":"\#(text)"}"# })
        }
    }

    @Test("While a client does not read, of a sensor's values the newest waits for it, and every message does")
    func sensors() async throws {
        try await withConnections { connections in
            let client = try connections.connect()
            let connection = client.connection
            try connections.router.events.subscribe(
                connection,
                to: ["tilt", "news", "dropped"],
                options: [:],
                form: .bridge
            )
            client.send(
                (0..<20).map { _ in "call?cmd=echo&msg=%22\(String(repeating: "x", count: 30_000))%22&id=1\n" }.joined()
            )
            connections.settle()
            for number in 1...5 {
                connections.router.events.publish(Event("tilt", .integer(Int64(number)), kind: .sensor))
                connections.router.events.publish(Event("news", .integer(Int64(number)), kind: .message))
            }
            connections.settle()
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

    @Test("What another one's call has for a client that does not read goes behind what waits for it")
    func behindWhatWaits() async throws {
        try await withConnections { connections in
            let (client, other) = (try connections.connect(), try connections.connect())
            try connections.router.events.subscribe(
                client.connection,
                to: ["news"],
                options: [:],
                form: .bridge
            )
            let text = String(repeating: "x", count: 30_000)
            let calls = (0..<50).map { #"{"handlerName":"echo","data":["\#(text)"],"callbackId":"\#($0)"}"# + "\n" }
            client.send(calls.joined())
            connections.settle()
            let news = String(repeating: "n", count: 70_000)
            other.send(#"{"handlerName":"post","data":["news","\#(news)"],"callbackId":"1"}"# + "\n")
            #expect(try await other.lines(1) == [#"{"responseId":"1","responseData":null}"#])
            var lines = try await client.lines(51)
            lines.removeAll { $0 == #"{"handlerName":"news","data":"\#(news)"}"# }
            #expect(lines == (0..<50).map { #"{"responseId":"\#($0)","responseData":"\#(text)"}"# })
        }
    }

    @Test("Calls to a handler that reads slowly wait for their callers' turns, and each cancel stays behind its call")
    func callsInTurns() async throws {
        try await withConnections { connections in
            let handler = try connections.connect()
            let (ann, bob) = (try connections.connect(as: 1000), try connections.connect(as: 1001))
            try connections.router.register("slow", of: handler.connection, hearsCancel: true)
            let text = String(repeating: "x", count: 30_000)
            ann.send((0..<20).map { "call?cmd=slow&msg=%22\(text)%22&id=\($0)\n" }.joined())
            connections.settle()
            ann.close()
            bob.send("call?cmd=slow&msg=%22bob%22&id=b\n")
            connections.settle()
            let lines = try await handler.lines(41)
            let bobs = lines.firstIndex { $0.contains(#"["bob"]"#) }
            let before = lines.prefix(try #require(bobs)).filter { !$0.contains(#""handlerName":"cancel""#) }
            #expect(before.count < 5, "\(lines.map { $0.suffix(120) })")
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
            let handler = try connections.connect()
            let (ann, bob) = (try connections.connect(as: 1000), try connections.connect(as: 1001))
            try connections.router.register("slow", of: handler.connection)
            let text = String(repeating: "x", count: 30_000)
            ann.send((0..<20).map { "call?cmd=slow&msg=%22\(text)%22&id=\($0)\n" }.joined())
            let refused = try await ann.lines(6)
            #expect(refused.allSatisfy { $0.contains("overloaded") })
            bob.send("call?cmd=slow&msg=%22bob%22&id=b\n")
            connections.settle()
            let lines = try await handler.lines(21 - refused.count)
            #expect(lines.contains { $0.contains(#"["bob"]"#) }, "\(refused.count): \(lines.map { $0.suffix(200) })")
            let toBob = bob.take()
            #expect(toBob == "")
        }
    }

    @Test("What a handler's client does not read besides calls counts against its share, also after a long call")
    func eventsAfterCalls() async throws {
        var limits = Limits()
        (limits.lineBytes, limits.replyBytes, limits.keptBytes) = (3 << 20, 7 << 19, 7 << 20)
        try await withConnections(limits: limits) { connections in
            let (handler, caller) = (try connections.connect(as: 1000), try connections.connect())
            let connection = handler.connection
            try connections.router.register("take", of: connection)
            try connections.router.events.subscribe(connection, to: ["news"], options: [:], form: .bridge)
            let text = String(repeating: "x", count: 2_900_000)
            caller.send("call?cmd=take&msg=%22\(text)%22&id=1\n")
            #expect(try await handler.lines(1).count == 1)
            let news = JSONValue.string(String(repeating: "n", count: 100_000))
            var count = 0
            while count < 60, !connection.isClosed {
                connections.router.events.publish(Event("news", news, kind: .message))
                connections.settle()
                count += 1
            }
            #expect((12..<25).contains(count), "\(count) events of 100 KB, of a share of 1.75 MiB")
        }
    }

    @Test("A batch whose answers nobody reads counts for its user, until they are read")
    func unreadBatch() async throws {
        try await withConnections { connections in
            let client = try connections.connect(as: 1000)
            let member = #"{"handlerName":"ping","callbackId":"\#(String(repeating: "i", count: 100))"}"#
            let batch = "[" + [String](repeating: member, count: 20_000).joined(separator: ",") + "]\n"
            client.send(batch)
            try await eventually("it has been read") {
                connections.settle()
                return connections.router.memory.use.used > batch.utf8.count
            }
            for _ in 0..<100 { connections.settle() }
            #expect(connections.router.memory.use.used > batch.utf8.count)
            #expect(try await client.lines(20_000).count == 20_000)
            #expect(connections.router.memory.use.used == 0)
        }
    }

    @Test("Others have their turns while a thousand handlers of a connection end, and who wants to know hears of each")
    func manyHandlersEnd() async throws {
        try await withConnections { connections in
            let (client, other) = (try connections.connect(as: 1000), try connections.connect(as: 1001))
            var listeners: [TestPeer] = []
            for _ in 0..<50 { listeners.append(try connections.connect(as: 1000)) }
            for number in 0..<1000 {
                try connections.router.register("h\(number)", of: client.connection)
            }
            for listener in listeners {
                try connections.router.events.subscribe(
                    listener.connection,
                    to: ["handlers"],
                    options: [:],
                    form: .bridge
                )
            }
            client.close()
            connections.step()
            #expect(connections.router.handlers.count == 0)
            // This is what the first turn has told.
            let early = (listeners[0].take() ?? "").split(separator: "\n").count
            #expect(early < 1000)
            other.send("call?cmd=ping&id=1\n")
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
            let (client, other) = (try connections.connect(), try connections.connect())
            try connections.router.register("mine", of: client.connection)
            let text = String(repeating: "x", count: 5000)
            client.send((0..<3000).map { "call?cmd=echo&msg=%22\(text)%22&id=\($0)\n" }.joined())
            client.close()
            connections.step()
            try connections.router.register("mine", of: other.connection)
            #expect(connections.router.handlers.count == 1)
        }
    }

    @Test("Who calls and goes at once is heard, also where its user's share is used up")
    func lastCalls() async throws {
        try await withConnections { connections in
            let (unread, listener) = (try connections.connect(as: 1000), try connections.connect())
            try connections.router.events.subscribe(listener.connection, to: ["news"], options: [:], form: .bridge)
            let member = #"{"handlerName":"ping","callbackId":"\#(String(repeating: "i", count: 100))"}"#
            for _ in 0..<6 {
                unread.send("[" + [String](repeating: member, count: 30_000).joined(separator: ",") + "]\n")
            }
            let caller = Caller(.peer(uid: 1000, pid: 1, groups: []))
            try await eventually("its share is used up") {
                connections.step()
                return connections.router.memory.isUsedUp(by: caller)
            }
            for number in 0..<30 {
                let client = try connections.connect(as: 1000)
                client.send("call?cmd=post&msg=[%22news%22,\(number)]&id=1\n")
                client.close()
            }
            let lines = try await listener.lines(30)
            #expect(lines == (0..<30).map { #"{"handlerName":"news","data":\#($0)}"# })
        }
    }

    @Test("Who can be told nothing any more is gone, also if it holds its socket open")
    func deafClient() async throws {
        try await withConnections { connections in
            for _ in 0..<100 {
                let client = try connections.connect(as: 1000)
                client.endOutput()
                client.send("call?cmd=ping&id=1\ncall?cmd=pi")
                for _ in 0..<4 { connections.step() }
                connections.advance(by: .milliseconds(1))
                #expect(client.connection.isClosed)
            }
        }
    }

    @Test("Who can be told nothing, and sends without end, holds up nobody")
    func deafFlood() async throws {
        try await withConnections { connections in
            let (client, other) = (try connections.connect(as: 1000), try connections.connect(as: 1001))
            client.endOutput()
            client.send("call?cmd=ping&id=1\n")
            client.flood()
            try await eventually("it is closed") {
                connections.step()
                return client.connection.isClosed
            }
            other.send("call?cmd=ping&id=2\n")
            #expect(try await other.lines(1) == ["handleJSONRequest?cmd=ping&msg=null&id=2"])
            #expect(connections.router.memory.use.used == 0)
        }
    }

    @Test("A client for which more than the limit waits is dropped")
    func tooMuch() async throws {
        var limits = Limits()
        limits.replyBytes = 1 << 20
        try await withConnections(limits: limits) { connections in
            let client = try connections.connect()
            let connection = client.connection
            try connections.router.events.subscribe(connection, to: ["news"], options: [:], form: .bridge)
            let news = Event("news", .string(String(repeating: "x", count: 50_000)), kind: .message)
            for _ in 0..<20 {
                connections.router.events.publish(news)
                connections.settle()
            }
            #expect(!connection.isClosed)
            for _ in 0..<5 {
                connections.router.events.publish(news)
                connections.settle()
            }
            try await client.untilClosed()
            #expect(connection.isClosed)
        }
    }

    @Test("A paused client that reads nothing for the limit's time is dropped, one that reads a little is not")
    func stalled() async throws {
        var limits = Limits()
        limits.stalledSeconds = 10
        try await withConnections(limits: limits) { connections in
            let client = try connections.connect()
            let connection = client.connection
            let calls = (0..<20).map { _ in "call?cmd=echo&msg=%22\(String(repeating: "x", count: 30_000))%22&id=1\n" }
            client.send(calls.joined())
            connections.advance(by: .seconds(9))
            #expect(!connection.isClosed)
            _ = client.take(most: 16 << 10)
            connections.advance(by: .seconds(9))
            #expect(!connection.isClosed)
            connections.advance(by: .seconds(12))
            try await client.untilClosed()
            #expect(connection.isClosed)
        }
    }
}
