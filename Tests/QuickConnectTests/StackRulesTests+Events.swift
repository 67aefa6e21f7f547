import JSON
import QuickConnect
import Testing

/// A device's event that notes when it runs.
struct TestSource: EventSource {
    let name: String
    let journal = Journal()

    func check(options: JSONObject) throws(CommandError) {
        guard options["rate"]?.integerValue != nil || options.isEmpty else {
            throw .invalid("/1/rate", expected: "an integer")
        }
    }

    func start(publishingTo hub: EventHub) { journal.note("start") }
    func stop() { journal.note("stop") }
}

extension StackRulesTests {
    // MARK: Events

    @Test("An event is a line without id, in its subscription's form")
    func eventForms() async throws {
        let accel = TestSource(name: "accel")
        try await withDaemon({ $0.mapShipped() }) { daemon in
            daemon.events.add(accel)
            let (one, two) = (daemon.connect(), daemon.connect())
            one.send("call?cmd=subscribe&msg=accel&id=1")
            #expect(await one.next() == "handleJSONRequest?cmd=subscribe&msg=null&id=1")
            two.send(#"{"handlerName":"subscribe","data":["accel",{"rate":10}],"callbackId":"1"}"#)
            #expect(await two.next() == #"{"responseId":"1","responseData":null}"#)
            daemon.events.publish(Event("accel", ["x": 0.01, "y": 0.0, "z": -0.99], kind: .sensor))
            #expect(
                await one.next() == """
                    handleJSONRequest?cmd=accel&msg=%7B%22x%22%3A0.01%2C%22y%22%3A0.0%2C%22z%22%3A-0.99%7D
                    """
            )
            #expect(await two.next() == #"{"handlerName":"accel","data":{"x":0.01,"y":0.0,"z":-0.99}}"#)
        }
    }

    @Test("A sensor runs from its first subscriber to its last")
    func sourceRuns() async throws {
        let accel = TestSource(name: "accel")
        try await withDaemon({ $0.mapShipped() }) { daemon in
            daemon.events.add(accel)
            let (one, two) = (daemon.connect(), daemon.connect())
            one.send(#"{"handlerName":"subscribe","data":["accel","accel"]}"#)
            one.send(#"{"handlerName":"subscribe","data":"accel"}"#)
            two.send(#"{"handlerName":"subscribe","data":"accel"}"#)
            #expect(accel.journal.notes == ["start"])
            one.send(#"{"handlerName":"unsubscribe","data":"accel"}"#)
            one.send(#"{"handlerName":"unsubscribe","data":"accel"}"#)
            #expect(accel.journal.notes == ["start"])
            two.connection.close()
            #expect(accel.journal.notes == ["start", "stop"])
            one.send(#"{"handlerName":"subscribe","data":"accel"}"#)
            one.send(#"{"handlerName":"unsubscribe"}"#)
            #expect(accel.journal.notes == ["start", "stop", "start", "stop"])
            daemon.events.publish(Event("accel", [:], kind: .sensor))
        }
    }

    @Test("subscribe takes all the names or none")
    func subscribeAllOrNone() async throws {
        let accel = TestSource(name: "accel")
        try await withDaemon({ $0.mapShipped() }) { daemon in
            daemon.events.add(accel)
            let client = daemon.connect()
            let refusals = [
                (#"["news","accel","location"]"#, "unsupported", "this device has no event 'location'"),
                (#"["accel",{"rate":"fast"}]"#, "invalid", "/1/rate: expected an integer"),
                (#"["news",{"rate":1}]"#, "invalid", "the event 'news' takes no options"),
                ("[]", "invalid", "/0: expected name, the name of an event; got nothing"),
            ]
            for (data, code, message) in refusals {
                client.send(#"{"handlerName":"subscribe","data":\#(data),"callbackId":"1"}"#)
                let start = #"{"responseId":"1","error":{"cmd":"subscribe","code":"\#(code)","message":"\#(message)""#
                #expect(await client.next().hasPrefix(start))
            }
            #expect(daemon.events.subscriberCounts.isEmpty)
            #expect(accel.journal.notes == [])
        }
    }

    @Test("post reaches a name's subscribers, never under a device's event name")
    func post() async throws {
        try await withDaemon({ $0.mapShipped() }) { daemon in
            let (one, two, three) = (daemon.connect(), daemon.connect(), daemon.connect())
            one.send(#"{"handlerName":"subscribe","data":["news","dropped"]}"#)
            two.send("call?cmd=subscribe&msg=news")
            three.send(#"{"handlerName":"subscribe","data":"weather"}"#)
            three.send(#"{"handlerName":"post","data":["news",{"a":[1]}],"callbackId":"1"}"#)
            #expect(await three.next() == #"{"responseId":"1","responseData":null}"#)
            three.send("call?cmd=post&msg=news")
            #expect(await one.next() == #"{"handlerName":"news","data":{"a":[1]}}"#)
            #expect(await one.next() == #"{"handlerName":"news","data":null}"#)
            #expect(await two.next() == "handleJSONRequest?cmd=news&msg=%7B%22a%22%3A%5B1%5D%7D")
            #expect(await two.next() == "handleJSONRequest?cmd=news&msg=null")
            for name in ["accel", "location", "playState", "recState", "dropped", "error"] {
                three.send(#"{"handlerName":"post","data":["\#(name)",1],"callbackId":"1"}"#)
                #expect(await three.next().contains(#""code":"denied""#))
            }
        }
    }

    @Test("Posts of one client arrive in their order")
    func postOrder() async throws {
        try await withDaemon({ $0.mapShipped() }) { daemon in
            let (reader, writer) = (daemon.connect(), daemon.connect())
            reader.send(#"{"handlerName":"subscribe","data":"news"}"#)
            for number in 1...1000 { writer.send(#"{"handlerName":"post","data":["news",\#(number)]}"#) }
            #expect(reader.lines.drain() == (1...1000).map { #"{"handlerName":"news","data":\#($0)}"# })
        }
    }

    @Test("A closed connection subscribes to nothing and registers nothing, however late")
    func goneForGood() async throws {
        let accel = TestSource(name: "accel")
        let door = Door()
        try await withDaemon({ mappings in
            mappings.map(
                "late",
                .valWaits { () async throws(CommandError) in
                    await door.pass()
                    return .accept
                },
                .shipped("SubscribeBCO", .business)
            )
            mappings.mapShipped()
        }) { daemon in
            daemon.events.add(accel)
            let client = daemon.connect()
            client.ignoreTheRest()
            client.send(#"{"handlerName":"late","data":["accel"]}"#)
            client.connection.close()
            door.open()
            client.send(#"{"handlerName":"subscribe","data":["accel"]}"#)
            client.send(#"{"handlerName":"registerHandler","data":["brighten"]}"#)
            #expect(daemon.handlers.holders.isEmpty)
        }
        #expect(accel.journal.notes.count.isMultiple(of: 2))
        #expect(accel.journal.notes == [])
    }
}
