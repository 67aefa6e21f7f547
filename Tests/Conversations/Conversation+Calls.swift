extension Conversation {
    /// Calls, their order, and the end of input.
    static let calls = [
        Conversation("10,000 calls sent at once are answered in their order") { host in
            let client = try await host.connect()
            let ids = 1...10_000
            try await client.say(ids.map { "call?cmd=ping&id=\($0)" })
            for id in ids { try await client.expect("handleJSONRequest?cmd=ping&msg=null&id=\(id)") }
            try await client.expectNothingMore()
            await client.close()
        },
        Conversation("300 calls, then the end of input: exactly 300 replies, then the daemon closes") { host in
            let client = try await host.connect()
            try await client.say((1...300).map { "call?cmd=hello&id=\($0)" })
            try await client.endInput()
            for id in 1...300 { try await client.expect(holding: "handleJSONRequest?cmd=hello&msg=", "&id=\(id)") }
            try await client.expectEnd()
            await client.close()
        },
        Conversation("A call without id that succeeds without result is silent, one that fails is not") { host in
            let client = try await host.connect()
            try await client.say(["call?cmd=ping", #"{"handlerName":"ping"}"#, "call?cmd=noSuchCommand"])
            try await client.expect(holding: "handleJSONRequest?cmd=error", "unknownCommand", "noSuchCommand")
            try await client.say(#"{"handlerName":"logMessage","data":["a\nb\u0000\u001b[31m"]}"#)
            try await client.expectNothingMore()
            await client.close()
        },
        Conversation("hello names the protocol, the program, its version, and what is simulated") { host in
            let client = try await host.connect()
            try await client.say(#"{"handlerName":"hello","callbackId":"1"}"#)
            try await client.expect(
                holding: #"{"responseId":"1","responseData":{"protocol":1,"program":"quickconnectd","version":""#,
                #""simulated":["#
            )
            await client.close()
        },
        Conversation("An unknown command names the nearest ones, wrong parameters all that is wrong") { host in
            let client = try await host.connect()
            try await client.say(#"{"handlerName":"helo","callbackId":"1"}"#)
            try await client.expect(
                holding: #"{"responseId":"1","error":{"cmd":"helo","code":"unknownCommand""#,
                #""nearest":["hello"]"#
            )
            try await client.say(#"{"handlerName":"hello","data":[1,2],"callbackId":"2"}"#)
            try await client.expect(
                holding: #""code":"invalid""#,
                #""fields":[{"field":"/0","expected":"#,
                #"{"field":"/1","expected":"#
            )
            await client.close()
        },
        Conversation("commands lists the commands with their parameters") { host in
            let client = try await host.connect()
            try await client.say(#"{"handlerName":"commands","callbackId":"1"}"#)
            try await client.expect(holding: #"{"responseId":"1","responseData":{"#, #""ping":{"#, #""subscribe":{"#)
            await client.close()
        },
        Conversation("Twenty clients at once each get their own replies in order") { host in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...20 {
                    group.addTask {
                        let client = try await host.connect()
                        try await client.say((1...200).map { "call?cmd=ping&id=\(number)-\($0)" })
                        for id in 1...200 {
                            try await client.expect("handleJSONRequest?cmd=ping&msg=null&id=\(number)-\(id)")
                        }
                        await client.close()
                    }
                }
                try await group.waitForAll()
            }
        },
    ]
}
