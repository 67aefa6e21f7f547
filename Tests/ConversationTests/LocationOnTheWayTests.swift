import JSON
import QuickConnect
import TestRig
import Testing

@Suite("From the receiver to showLoc", .serialized)
struct LocationOnTheWayTests {
    @Test(.enabled(if: GPSDServer.isInstalled, "gpsd is not installed"))
    func `loc answers showLoc, and location the W3C's names`() async throws {
        let server = try await GPSDServer.start()
        let daemon = try await DaemonProcess([], settings: "gpsd: 127.0.0.1:\(server.port)")
        let client = try daemon.connect()
        try await server.saying({ NMEA(-33.856_789, 151.215_123, altitude: 5.4).fix }) {
            client.send("call?cmd=loc&id=1")
            let reply = try #require(try await client.nextReply())
            #expect(reply.command == "showLoc" && reply.id == "1")
            let values = reply.value.arrayValue?.map { $0.numberValue ?? .nan } ?? []
            #expect(values.count == 4 && abs(values[0] + 33.856_789) < 1e-6 && abs(values[1] - 151.215_123) < 1e-6)
            #expect(abs(values[2] - 5.4) < 0.1)

            let position = try await client.value("location", [["enableHighAccuracy": true]]).objectValue ?? [:]
            #expect(position["mode"] == 3 && position["source"] == "gpsd")
            #expect(
                (position["age"]?.numberValue ?? 99) < 5 && position["timestamp"]?.integerValue ?? 0 > 1_700_000_000_000
            )
        }
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `what is missing is told with a reason`() async throws {
        let port = try GPSDServer.freePort()
        let daemon = try await DaemonProcess(["--gpsd", "127.0.0.1:\(port)"])
        let client = try daemon.connect()
        client.send("call?cmd=loc&id=1")
        let reply = try await client.nextReply()
        #expect(reply?.code == "unavailable" && reply?.value.objectValue?["reason"] == "unreachable")
        client.send("call?cmd=location&id=2&msg=%7B%22timeout%22%3A-1%2C%22maxAge%22%3A5%7D")
        let invalid = try await client.nextReply()
        let fields = invalid?.value.objectValue?["fields"]?.arrayValue?.compactMap { $0.objectValue?["field"] }
        #expect(invalid?.code == "invalid" && fields?.count == 2)
        #expect(Set(fields ?? []) == ["/0/timeout", "/0/maxAge"])
    }

    @Test func `simulated, the position follows the track`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        #expect(try await client.value("location", []).objectValue?["source"] == "simulated")
        client.send("call?cmd=subscribe&msg=location")
        var places: Set<JSONValue> = []
        for _ in 0..<2 {
            let event = try await client.nextReply()
            #expect(event?.command == "location")
            places.insert(event?.value.objectValue?["latitude"] ?? .null)
        }
        #expect(places.count == 2)
        try await eventually("it is told") { daemon.log.contains("the position is simulated") }
    }
}
