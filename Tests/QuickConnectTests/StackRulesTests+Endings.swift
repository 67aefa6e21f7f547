import Concurrency
import JSON
import QuickConnect
import Testing

extension StackRulesTests {
    // MARK: How a call and a connection end

    @Test("A closed connection's waiting calls are cancelled")
    func connectionGone() async throws {
        let ended = Promise<Void>()
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .waits { () async throws(CommandError) in
                    let never = Promise<BusinessOutcome>()
                    do throws(CommandError) {
                        return try await never.value()
                    } catch {
                        ended.fail(error)
                        throw error
                    }
                }
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            client.connection.close()
            await #expect(throws: CommandError.self) { try await ended.value() }
            #expect(await client.next().contains(#""code":"cancelled""#))
        }
    }

    @Test("At the end of input an idle connection finishes at once")
    func endOfInputAtOnce() async throws {
        try await withDaemon({ $0.map("ping") }) { daemon in
            let client = daemon.connect()
            client.send("call?cmd=ping&id=1")
            client.connection.endInput()
            #expect(client.lines.drain() == ["handleJSONRequest?cmd=ping&msg=null&id=1", LineQueue.end])
        }
    }

    @Test("At the end of input calls under way are answered first")
    func endOfInput() async throws {
        let doors = (0..<20).map { _ in Promise<BusinessOutcome>() }
        try await withDaemon({ mappings in
            for (index, door) in doors.enumerated() { mappings.map("a\(index)", .waits(for: door)) }
        }) { daemon in
            let client = daemon.connect()
            for index in doors.indices { client.send("call?cmd=a\(index)&id=\(index)") }
            client.connection.endInput()
            for (index, door) in doors.enumerated().reversed() {
                door.fulfil(.proceed)
                #expect(await client.next() == "handleJSONRequest?cmd=a\(index)&msg=null&id=\(index)")
            }
            #expect(await client.next() == LineQueue.end)
            #expect(client.lines.finishes == 1)
        }
    }

    @Test("A daemon that stops cancels calls that wait or would")
    func daemonStops() async throws {
        var mappings = TestMappings()
        mappings.map("a", .waits(for: Promise<BusinessOutcome>()))
        mappings.map(
            "deaf",
            .waits { () async throws(CommandError) in
                await Task.yield()
                return try await Promise<BusinessOutcome>().value()
            }
        )
        let daemon = try TestDaemon(mappings)
        let client = daemon.connect()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await daemon.waitingCalls.run() }
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            client.send(#"{"handlerName":"deaf","callbackId":"2"}"#)
            daemon.waitingCalls.finish()
            client.send(#"{"handlerName":"a","callbackId":"3"}"#)
            #expect(
                await client.next() == """
                    {"responseId":"3","error":{"cmd":"a","code":"cancelled","message":"the daemon is stopping"}}
                    """
            )
            group.cancelAll()
        }
        await daemon.waitingCalls.drained()
        let replies = client.lines.drain()
        #expect(replies.count == 2)
        #expect(replies.allSatisfy { $0.contains(#""code":"cancelled""#) })
    }

    @Test("A call gets one final reply, whichever comes first")
    func exactlyOneReply() async throws {
        let repetitions = 2000
        let doors = (0..<repetitions).map { _ in Promise<BusinessOutcome>() }
        try await withDaemon({ mappings in
            for (index, door) in doors.enumerated() {
                mappings.map(
                    "a\(index)",
                    .waits(for: door),
                    .waits { () async throws(CommandError) in .result(2) },
                    .ecoWaits { () async throws(CommandError) in .proceed },
                    timeout: .microseconds(index % 50 * 4)
                )
            }
        }) { daemon in
            for (index, door) in doors.enumerated() {
                let client = daemon.connect()
                await withTaskGroup(of: Void.self) { group in
                    client.send(#"{"handlerName":"a\#(index)","callbackId":"x"}"#)
                    group.addTask { door.fulfil(.result(1)) }
                    group.addTask {
                        client.connection.interruptCalls(id: "x", with: CommandError(.cancelled, "cancelled"))
                    }
                    client.connection.endInput()
                    let reply = await client.next()
                    #expect(reply.hasPrefix(#"{"responseId":"x","#))
                    #expect(await client.next() == LineQueue.end)
                }
                #expect(client.lines.finishes == 1)
            }
        }
    }

    @Test("A connection interrupted while objects run replies before it finishes")
    func interruptedBeforeFinish() async throws {
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .waits { () async throws(CommandError) in .result(1) },
                .vco { call in
                    let connection = call.connection
                    connection.interruptCalls(id: nil, with: CommandError(.cancelled, "too late"))
                    for _ in 0..<200 { _ = connection.isClosed }
                    return .reply(2)
                }
            )
        }) { daemon in
            for _ in 0..<500 {
                let client = daemon.connect()
                client.send(#"{"handlerName":"a","callbackId":"x"}"#)
                client.connection.endInput()
                #expect(await client.next() == #"{"responseId":"x","responseData":2}"#)
                #expect(await client.next() == LineQueue.end)
            }
        }
    }
}
