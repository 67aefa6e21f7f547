extension Conversation {
    /// What counts as a line, and what happens to bad ones.
    static let lines = [
        Conversation("Empty lines are ignored, a carriage return before the line feed is dropped") { host in
            let client = try await host.connect()
            try await client.send(Array("\n\r\n\ncall?cmd=ping&id=1\r\n\r\n".utf8))
            try await client.expect("handleJSONRequest?cmd=ping&msg=null&id=1")
            try await client.say(#"{"handlerName":"ping","callbackId":"2"}"# + "\r")
            try await client.expect(#"{"responseId":"2","responseData":null}"#)
            try await client.expectNothingMore()
            await client.close()
        },
        Conversation("A line may come in any pieces") { host in
            let client = try await host.connect()
            for byte in Array("call?cmd=ping&id=%C3%A9\n{\"handlerName\":\"ping\",\"callbackId\":\"é\"}\n".utf8) {
                try await client.send([byte])
            }
            try await client.expect("handleJSONRequest?cmd=ping&msg=null&id=%C3%A9")
            try await client.expect(#"{"responseId":"é","responseData":null}"#)
            await client.close()
        },
        Conversation("A last line without line feed is dropped") { host in
            let client = try await host.connect()
            try await client.send(Array("call?cmd=ping&id=1\ncall?cmd=ping&id=2".utf8))
            try await client.endInput()
            try await client.expect("handleJSONRequest?cmd=ping&msg=null&id=1")
            try await client.expectEnd()
            await client.close()
        },
        Conversation("An answer comes in the form of its question") { host in
            let client = try await host.connect()
            for id in 1...100 {
                try await client.say("call?cmd=ping&id=\(id)")
                try await client.say(#"{"handlerName":"ping","callbackId":"\#(id)"}"#)
            }
            for id in 1...100 {
                try await client.expect("handleJSONRequest?cmd=ping&msg=null&id=\(id)")
                try await client.expect(#"{"responseId":"\#(id)","responseData":null}"#)
            }
            await client.close()
        },
        Conversation("A batch is answered member by member, a bad one by an error") { host in
            let client = try await host.connect()
            try await client.say(
                """
                [{"handlerName":"ping","callbackId":"1"},17,{"callbackId":"2"},{"handlerName":"ping"},\
                {"handlerName":"ping","callbackId":"3"}]
                """
            )
            try await client.expect(#"{"responseId":"1","responseData":null}"#)
            try await client.expect(holding: #"{"error":{"code":"badRequest""#)
            try await client.expect(holding: #"{"responseId":"2","error":{"code":"badRequest""#)
            try await client.expect(#"{"responseId":"3","responseData":null}"#)
            try await client.say("[]")
            try await client.expect(holding: #"{"error":{"code":"badRequest""#)
            try await client.expectNothingMore()
            await client.close()
        },
        Conversation("Each malformed line gets one error, and the conversation goes on") { host in
            let client = try await host.connect()
            let urlLines = [
                "call?", "call?cmd=", "call?cmd=ping&cmd=ping", "call?cmd=ping&x=1", "call?cmd=%zz", "hello",
                "call?cmd=a%00",
                "GET / HTTP/1.1", " ", "call?cmd=%FF",
            ]
            let bridgeLines = [
                "{", "{}", "[1]", #"{"handlerName":7}"#, #"{"handlerName":"ping","callbackId":7}"#, "[[]]",
            ]
            for line in urlLines {
                try await client.say(line)
                try await client.expect(holding: "handleJSONRequest?cmd=error&msg=%7B", "%22code%22%3A%22badRequest%22")
            }
            for line in bridgeLines {
                try await client.say(line)
                try await client.expect(holding: #"{"error":{"#, #""code":"badRequest""#)
            }
            try await client.send([0xFF, 0xFE, 0x0A, 0x7B, 0xFF, 0x0A])
            try await client.expect(holding: "handleJSONRequest?cmd=error", "badRequest")
            try await client.expect(holding: #"{"error":{"#, #""code":"badRequest""#)
            try await client.say("call?cmd=ping&id=7&x=1")
            try await client.expect(holding: "handleJSONRequest?cmd=error", "&id=7")
            try await client.expectNothingMore()
            await client.close()
        },
        Conversation("A line that is too long is skipped to its line feed and answered tooLarge") { host in
            let client = try await host.connect()
            let start = Array(#"{"handlerName":"ping","data":""#.utf8)
            for first in [start, Array("call?cmd=ping&msg=".utf8)] {
                try await client.send(first)
                for _ in 0..<10 { try await client.send([UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)) }
                try await client.send(Array("\ncall?cmd=ping&id=good\n".utf8))
                if first == start {
                    try await client.expect(holding: #"{"error":{"code":"tooLarge""#)
                } else {
                    try await client.expect(holding: "handleJSONRequest?cmd=error", "tooLarge")
                }
                try await client.expect("handleJSONRequest?cmd=ping&msg=null&id=good")
            }
            await client.close()
        },
        Conversation("A line that is too deep is tooLarge, with its id") { host in
            let client = try await host.connect()
            let deep = String(repeating: "[", count: 513) + String(repeating: "]", count: 513)
            try await client.say("call?cmd=ping&msg=\(deep)&id=1")
            try await client.expect(holding: "handleJSONRequest?cmd=error", "tooLarge", "&id=1")
            try await client.say(#"{"handlerName":"ping","data":\#(deep),"callbackId":"2"}"#)
            try await client.expect(holding: #"{"responseId":"2","error":{"cmd":"ping","code":"tooLarge""#)
            await client.close()
        },
    ]
}
