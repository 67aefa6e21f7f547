import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("From the network to the socket", .serialized)
struct NearbyOnTheWayTests {
    private func services(_ daemon: DaemonProcess, _ arguments: String...) async throws -> [JSONObject] {
        let result = try await daemon.client(["call", "nearby"] + arguments)
        guard result.exit == .status(0) else { return [] }
        return try JSONParser.parse(result.output).arrayValue?.compactMap(\.objectValue) ?? []
    }

    /// The next event, as `NAME here`.
    private func next(_ client: SocketClient) async throws -> String {
        let event = try #require(try await client.nextReply())
        let value = event.value.objectValue
        return "\(event.command) \(value?["name"]?.stringValue ?? "?") \(value?["here"] == true)"
    }

    @Test func `nearby answers two simulated services, and the event tells that one comes and goes`() async throws {
        let daemon = try await DaemonProcess()
        let all = try await services(daemon)
        #expect(all.map { $0["name"] } == ["Garden Camera", "Hall Printer"])
        #expect(all.first?.names == ["name", "type", "domain", "host", "address", "port", "txt"])
        #expect(try await services(daemon, "_ipp._tcp").map { $0["port"] } == [631])
        #expect(try await services(daemon, "_ssh._tcp", #"{"timeout": 500}"#) == [])
        let client = try daemon.connect()
        client.send("call?cmd=subscribe&msg=%5B%22nearby%22%2C%7B%22type%22%3A%22_ipp._tcp%22%7D%5D&id=1")
        #expect(try await client.nextReply()?.id == "1")
        for here in [true, false, true] { #expect(try await next(client) == "nearby Hall Printer \(here)") }
        let state = try await daemon.client("call", "state").output
        #expect(state.contains(#"{"event":"nearby","subscribers":1}"#) && state.contains(#""browsing":[]"#))
        #expect(try await daemon.client("call", "hello").output.contains(#""nearby""#))
        #expect(try await daemon.client("doctor").output.contains("the simulated network"))
        #expect(try await daemon.stop() == .status(0))
    }

    @Test(arguments: [
        ("[7]", "a string"), ("[\"http\"]", "a service type such as _http._tcp"),
        ("[\"_http._tcp\",{\"timeout\":\"x\"}]", "timeout"),
        ("[\"_http._tcp\",{\"rate\":1}]", "rate"), ("[\"_http._tcp\",{\"timeout\":99}]", "from 100 to 60000"),
        ("[\"_http._tcp\",{},1]", "parameters"),
    ])
    func `what does not fit is invalid, and says what would`(message: String, says: String) async throws {
        let daemon = try await DaemonProcess()
        let reply = try await daemon.connect().ask(#"{"handlerName":"nearby","data":\#(message),"callbackId":"1"}"#)
        #expect(reply?.contains(#""code":"invalid""#) == true && reply?.contains(says) == true, "\(reply ?? "")")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `without a system bus it is unavailable, with the command that mends it`() async throws {
        let daemon = try await DaemonProcess([], environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere/bus"])
        let reply = try await daemon.connect().ask(#"{"handlerName":"nearby","callbackId":"1"}"#)
        #expect(reply?.contains(#""code":"unavailable""#) == true && reply?.contains(#""fix":"sudo "#) == true)
        #expect(try await daemon.client("doctor").output.contains("Avahi"))
        #expect(try await daemon.stop() == .status(0))
    }
}

/// The same with an Avahi daemon.
@Suite(
    "From Avahi to the socket",
    .serialized,
    .enabled(if: AvahiServer.whyNot == nil, "no Avahi here: \(AvahiServer.whyNot ?? "")")
)
struct AvahiOnTheWayTests {
    private func ask(_ client: SocketClient, _ message: String) async throws -> [JSONObject] {
        let reply = try await client.ask(#"{"handlerName":"nearby","data":\#(message),"callbackId":"1"}"#) ?? ""
        return try JSONParser.parse(reply).objectValue?["responseData"]?.arrayValue?.compactMap(\.objectValue) ?? []
    }

    private func code(_ client: SocketClient) async throws -> String? {
        let reply = try await client.ask(
            #"{"handlerName":"nearby","data":["_http._tcp",{"timeout":20000}],"callbackId":"1"}"#
        )
        return try JSONParser.parse(reply ?? "null").objectValue?["error"]?.objectValue?["code"]?.stringValue
    }

    @Test func `services are found with all that they say, and told when they go`() async throws {
        let avahi = try await AvahiServer.start()
        let daemon = try await DaemonProcess([], environment: avahi.environment)
        let (client, subscriber) = (try daemon.connect(), try daemon.connect())
        let name = "Küche · 100 % \"neu\""
        var kitchen: ChildProcess? = try avahi.publish(name, type: "_http._tcp", port: 8080, txt: "path=/", "flag")
        let printer = try avahi.publish("Printer", type: "_ipp._tcp", port: 631)
        // In its first moments it may have been seen by IPv6 alone.
        try await eventually("the kitchen is found by IPv4") {
            try await ask(client, #"["_http._tcp"]"#).map { $0["address"] } == ["127.0.0.1"]
        }
        let found = try #require(try await ask(client, #"["_http._tcp"]"#).first)
        #expect(found["name"] == .string(name) && found["type"] == "_http._tcp" && found["domain"] == "local")
        #expect(found["host"] == "rig.local" && found["address"] == "127.0.0.1" && found["port"] == 8080, "\(found)")
        #expect(found["txt"]?.objectValue?["path"] == "/" && found["txt"]?.objectValue?["flag"] == true)
        #expect(try await ask(client, "[]").map { $0["type"] } == ["_http._tcp", "_ipp._tcp"])

        subscriber.send(#"{"handlerName":"subscribe","data":["nearby",{"type":"_http._tcp"}],"callbackId":"1"}"#)
        _ = try await subscriber.nextMessage()
        #expect(try await subscriber.nextMessage()?["data"]?.objectValue?["here"] == true)
        kitchen?.send(SIGTERM)
        try await kitchen?.wait()
        kitchen = nil
        // What it tells of another address comes before.
        var last: JSONObject?
        repeat { last = try await subscriber.nextMessage()?["data"]?.objectValue } while last?["here"] == true
        #expect(last?["here"] == false && last?["name"] == .string(name))
        #expect(try await daemon.client("doctor").output.contains("avahi 0."))
        _ = printer
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `one that is killed is unavailable, and found again; a frozen one costs its deadline`() async throws {
        let avahi = try await AvahiServer.start()
        let daemon = try await DaemonProcess([], environment: avahi.environment)
        let (client, subscriber) = (try daemon.connect(), try daemon.connect())
        subscriber.send(#"{"handlerName":"subscribe","data":["nearby",{"type":"_http._tcp"}],"callbackId":"1"}"#)
        _ = try await subscriber.nextMessage()
        var service = try avahi.publish("A", type: "_http._tcp", port: 1)
        #expect(try await subscriber.nextMessage()?["data"]?.objectValue?["here"] == true)
        try await avahi.kill()
        #expect(try await subscriber.nextMessage()?["data"]?.objectValue?["here"] == false)
        #expect(try await code(client) == "unavailable")
        try await avahi.restart()
        service = try avahi.publish("A", type: "_http._tcp", port: 1)
        #expect(try await subscriber.nextMessage()?["data"]?.objectValue?["here"] == true)

        avahi.send(SIGSTOP)
        let other = try daemon.connect()
        let time = try await seconds {
            let reply = try await other.ask(
                #"{"handlerName":"nearby","data":["_ssh._tcp",{"timeout":20000}],"callbackId":"1"}"#
            )
            #expect(reply?.contains(#""code":"timeout""#) == true, "\(reply ?? "")")
        }
        #expect(time >= 3)
        #expect(try await other.ask(#"{"handlerName":"ping","callbackId":"2"}"#) != nil)
        avahi.send(SIGCONT)
        try await eventually("it answers again") {
            try await ask(client, #"["_http._tcp"]"#).count == 1
        }
        _ = service
        #expect(try await daemon.stop() == .status(0))
    }
}
