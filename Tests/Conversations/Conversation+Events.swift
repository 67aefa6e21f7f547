extension Conversation {
    /// Events that clients post.
    static let events = [
        Conversation("A posted event reaches its subscribers, each in its form, and nobody else") { host in
            let (one, two) = (try await host.connect(), try await host.connect())
            let (other, writer) = (try await host.connect(), try await host.connect())
            let name = uniqueName("news")
            try await one.subscribe(name)
            try await two.say("call?cmd=subscribe&msg=\(name)&id=1")
            try await two.expect("handleJSONRequest?cmd=subscribe&msg=null&id=1")
            try await other.subscribe(name + "x")
            try await writer.say(#"{"handlerName":"post","data":["\#(name)",{"a":[1,"é"]}],"callbackId":"1"}"#)
            try await writer.expect(#"{"responseId":"1","responseData":null}"#)
            try await one.expect(#"{"handlerName":"\#(name)","data":{"a":[1,"é"]}}"#)
            try await two.expect("handleJSONRequest?cmd=\(name)&msg=%7B%22a%22%3A%5B1%2C%22%C3%A9%22%5D%7D")
            try await other.expectNothingMore()
            try await writer.expectNothingMore()
            for client in [one, two, other, writer] { await client.close() }
        },
        Conversation("Events of one client arrive in the order they were posted, until unsubscribe") { host in
            let (reader, writer) = (try await host.connect(), try await host.connect())
            let name = uniqueName("count")
            try await reader.subscribe(name)
            try await writer.say((1...1000).map { "call?cmd=post&msg=%5B%22\(name)%22%2C\($0)%5D" })
            for number in 1...1000 { try await reader.expect(#"{"handlerName":"\#(name)","data":\#(number)}"#) }
            try await reader.say(#"{"handlerName":"unsubscribe","data":["\#(name)"],"callbackId":"1"}"#)
            try await reader.expect(#"{"responseId":"1","responseData":null}"#)
            try await writer.say("call?cmd=post&msg=\(name)&id=last")
            try await writer.expect("handleJSONRequest?cmd=post&msg=null&id=last")
            try await reader.expectNothingMore()
            await reader.close()
            await writer.close()
        },
        Conversation("Nobody posts under a device's event name") { host in
            let client = try await host.connect()
            let names = ["playState", "recState", "volumeState", "location", "accel", "nearby", "dropped", "error"]
            // However it is written.
            for name in names + [#"\u0070layState"#] {
                try await client.say(#"{"handlerName":"post","data":["\#(name)",1],"callbackId":"1"}"#)
                try await client.expect(holding: #"{"responseId":"1","error":{"cmd":"post","code":"denied""#)
            }
            for name in [#""""#, "null", "1"] {
                try await client.say(#"{"handlerName":"post","data":[\#(name),1],"callbackId":"2"}"#)
                try await client.expect(holding: #"{"responseId":"2","error":{"cmd":"post","code":"invalid""#)
            }
            await client.close()
        },
        Conversation("A value of a megabyte arrives whole") { host in
            let (reader, writer) = (try await host.connect(), try await host.connect())
            let name = uniqueName("big")
            let text = String(repeating: "0123456789abcdef", count: 1 << 16)
            try await reader.subscribe(name)
            try await writer.say(#"{"handlerName":"post","data":["\#(name)","\#(text)"]}"#)
            try await reader.expect(#"{"handlerName":"\#(name)","data":"\#(text)"}"#)
            await reader.close()
            await writer.close()
        },
        Conversation("The end of input ends subscriptions too") { host in
            let client = try await host.connect()
            try await client.subscribe(uniqueName("unheard"))
            try await client.endInput()
            try await client.expectEnd()
            await client.close()
        },
    ]
}
