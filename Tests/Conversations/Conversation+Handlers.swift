extension Conversation {
    /// Clients that answer calls of other clients, and calls that therefore wait.
    static let handlers = [
        Conversation("A handler answers another client's call, which waits without holding up others") { host in
            let (handler, client) = (try await host.connect(), try await host.connect())
            let name = uniqueName("brighten")
            try await handler.register(name)
            try await client.say([
                #"{"handlerName":"\#(name)","data":{"level":5},"callbackId":"1"}"#, "call?cmd=ping&id=2",
            ])
            try await client.expect("handleJSONRequest?cmd=ping&msg=null&id=2")
            try await handler.expect(
                holding: """
                    {"handlerName":"\(name)","data":{"level":5},"callbackId":"q1","command":"\(name)",\
                    "phase":"business","results":[],"caller":{"uid":
                    """,
                #","user":""#
            )
            try await handler.say(#"{"responseId":"q1","responseData":[5]}"#)
            try await client.expect(#"{"responseId":"1","responseData":[5]}"#)
            try await client.say("call?cmd=\(name)&msg=5&id=3")
            try await handler.expect(holding: #""data":[5],"callbackId":"q2""#)
            try await handler.say(#"{"responseId":"q2","error":{"code":"unavailable","message":"dark"}}"#)
            try await client.expect(holding: "handleJSONRequest?cmd=error", "unavailable", "dark", "&id=3")
            await handler.close()
            await client.close()
        },
        Conversation("A client may call its own handler") { host in
            let client = try await host.connect()
            let name = uniqueName("own")
            try await client.register(name)
            try await client.say("call?cmd=\(name)&id=1")
            try await client.expect(holding: #""callbackId":"q1""#)
            try await client.say(#"{"responseId":"q1","responseData":"self"}"#)
            try await client.expect("handleJSONRequest?cmd=\(name)&msg=%22self%22&id=1")
            await client.close()
        },
        Conversation("A handler's name that another connection holds is busy, and free when that closes") { host in
            let (one, two) = (try await host.connect(), try await host.connect())
            let name = uniqueName("held")
            try await one.register(name)
            try await two.say(#"{"handlerName":"registerHandler","data":["\#(name)"],"callbackId":"1"}"#)
            try await two.expect(holding: #"{"responseId":"1","error":{"#, #""code":"busy""#)
            try await one.say(#"{"handlerName":"removeHandler","data":["\#(name)"],"callbackId":"1"}"#)
            try await one.expect(#"{"responseId":"1","responseData":null}"#)
            try await two.register(name)
            await one.close()
            await two.close()
        },
        Conversation("When a handler goes away with calls under way, each of them gets scriptFailed") { host in
            let (handler, client) = (try await host.connect(), try await host.connect())
            let name = uniqueName("mortal")
            try await handler.register(name)
            try await client.say((1...100).map { #"{"handlerName":"\#(name)","callbackId":"\#($0)"}"# })
            for _ in 1...100 { try await handler.expect(holding: #""command":"\#(name)""#) }
            await handler.close()
            for _ in 1...100 { try await client.expect(holding: #""code":"scriptFailed""#) }
            try await client.say("call?cmd=\(name)&id=1")
            try await client.expect(holding: "handleJSONRequest?cmd=error", "unknownCommand", "&id=1")
            try await client.expectNothingMore()
            await client.close()
        },
        Conversation("cancel ends the waiting calls with that id, and no late answer follows") { host in
            let (handler, client) = (try await host.connect(), try await host.connect())
            let name = uniqueName("slow")
            try await handler.register(name)
            try await client.say(["call?cmd=\(name)&id=a", "call?cmd=\(name)&id=b", "call?cmd=\(name)&id=a"])
            for _ in 1...3 { _ = try await handler.hear() }
            try await client.say("call?cmd=cancel&msg=a")
            for _ in 1...2 { try await client.expect(holding: "handleJSONRequest?cmd=error", "cancelled", "&id=a") }
            for number in 1...3 { try await handler.say(#"{"responseId":"q\#(number)","responseData":\#(number)}"#) }
            try await client.expect("handleJSONRequest?cmd=\(name)&msg=2&id=b")
            try await client.expectNothingMore()
            try await handler.expectNothingMore()
            await handler.close()
            await client.close()
        },
        Conversation("Calls that wait at the end of input still get their replies, in whatever order") { host in
            let (handler, client) = (try await host.connect(), try await host.connect())
            let name = uniqueName("late")
            try await handler.register(name)
            try await client.say((1...50).map { #"{"handlerName":"\#(name)","data":\#($0),"callbackId":"\#($0)"}"# })
            try await client.endInput()
            for _ in 1...50 { _ = try await handler.hear() }
            for number in (1...50).reversed() {
                try await handler.say(#"{"responseId":"q\#(number)","responseData":\#(number)}"#)
            }
            try await client.expect(inAnyOrder: (1...50).map { #"{"responseId":"\#($0)","responseData":\#($0)}"# })
            try await client.expectEnd()
            await handler.close()
            await client.close()
        },
        Conversation("More waiting calls than the limit are overloaded, while others still run") { host in
            let (handler, client) = (try await host.connect(), try await host.connect())
            let name = uniqueName("full")
            try await handler.register(name)
            try await client.say((1...1024).map { "call?cmd=\(name)&id=\($0)" })
            try await client.say(["call?cmd=\(name)&id=more", "call?cmd=ping&id=ping"])
            try await client.expect(holding: "handleJSONRequest?cmd=error", "overloaded", "&id=more")
            try await client.expect("handleJSONRequest?cmd=ping&msg=null&id=ping")
            for _ in 1...1024 { _ = try await handler.hear() }
            await handler.close()
            for _ in 1...1024 { try await client.expect(holding: "handleJSONRequest?cmd=error", "scriptFailed") }
            try await client.expectNothingMore()
            await client.close()
        },
        Conversation("A client that goes away with calls waiting harms nobody") { host in
            let (handler, client) = (try await host.connect(), try await host.connect())
            let name = uniqueName("left")
            try await handler.register(name)
            try await client.say((1...10).map { "call?cmd=\(name)&id=\($0)" })
            for _ in 1...10 { _ = try await handler.hear() }
            await client.close()
            for number in 1...10 { try await handler.say(#"{"responseId":"q\#(number)","responseData":1}"#) }
            try await handler.expectNothingMore()
            await handler.close()
        },
        Conversation(
            "A handler that asks for it hears of calls whose answer nobody waits for, and another one does not"
        ) { host in
            let (handler, client) = (try await host.connect(), try await host.connect())
            let (hears, deaf) = (uniqueName("hears"), uniqueName("deaf"))
            let options = #"{"cancel":true}"#
            try await handler.say(
                #"{"handlerName":"registerHandler","data":["\#(hears)",\#(options)],"callbackId":"1"}"#
            )
            try await handler.expect(#"{"responseId":"1","responseData":null}"#)
            try await handler.register(deaf)
            for name in [deaf, hears, hears] { try await client.say("call?cmd=\(name)&id=a") }
            for _ in 1...3 { _ = try await handler.hear() }
            // What is answered needs no cancelling.
            try await handler.say(#"{"responseId":"q2","responseData":2}"#)
            try await client.expect("handleJSONRequest?cmd=\(hears)&msg=2&id=a")
            try await client.say("call?cmd=cancel&msg=a")
            for _ in 1...2 { try await client.expect(holding: "handleJSONRequest?cmd=error", "cancelled", "&id=a") }
            try await handler.expect(#"{"handlerName":"cancel","data":["q3"]}"#)
            try await handler.say(#"{"responseId":"q3","responseData":3}"#)
            try await client.expectNothingMore()
            // Its caller is gone.
            try await client.say("call?cmd=\(hears)&id=b")
            _ = try await handler.hear()
            await client.close()
            try await handler.expect(#"{"handlerName":"cancel","data":["q4"]}"#)
            // Registering again without the option takes it back.
            try await handler.register(hears)
            try await handler.say(#"{"handlerName":"registerHandler","data":["x",{"cancel":1}],"callbackId":"2"}"#)
            try await handler.expect(holding: #""code":"invalid""#, #""field":"/1/cancel""#)
            try await handler.say(#"{"handlerName":"post","data":["cancel",["q1"]],"callbackId":"3"}"#)
            try await handler.expect(holding: #""code":"denied""#)
            let last = try await host.connect()
            try await last.say("call?cmd=\(hears)&id=c")
            _ = try await handler.hear()
            await last.close()
            try await handler.expectNothingMore()
            await handler.close()
        },
        Conversation("Answers and errors are never answered") { host in
            let client = try await host.connect()
            try await client.say([
                #"{"responseId":"q1","responseData":1}"#, #"{"responseId":7}"#, #"{"responseId":"q1","error":{}}"#,
                #"{"error":{"code":"badRequest","message":"x"}}"#, #"[{"responseId":"q1"},{"responseId":"q2"}]"#,
            ])
            try await client.expectNothingMore()
            await client.close()
        },
    ]
}
