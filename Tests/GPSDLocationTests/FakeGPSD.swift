import Foundation
import TestRig

/// A server that says what a test wants, in gpsd's words, to one client at a time.
final class FakeGPSD: @unchecked Sendable {
    // Sendable because a test uses it from one task.
    private let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    private var client: Int32 = -1
    let port: Int

    init() throws {
        port = try GPSDServer.freePort()
        guard withLoopback(port, { bind(listener, $0, $1) }) == 0, listen(listener, 4) == 0 else {
            throw NotInTime(description: "no port")
        }
    }

    deinit {
        hangUp()
        close(listener)
    }

    /// Waits for a client, and says what gpsd says first.
    func awaitClient(receivers: [String] = ["/dev/a"]) async throws {
        try await eventually("a client comes") {
            client = accept(listener, nil, nil)
            return client >= 0
        }
        say(#"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#)
        let devices = receivers.map { #"{"class":"DEVICE","path":"\#($0)","activated":"2026-01-01T00:00:00.000Z"}"# }
        say(#"{"class":"DEVICES","devices":[\#(devices.joined(separator: ","))]}"#)
    }

    func say(_ line: String) { send(line + "\r\n") }

    /// Sends a part of a line.
    func send(_ text: String) { _ = Foundation.send(client, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

    func hangUp() {
        if client >= 0 { close(client) }
        client = -1
    }

    /// A position of this moment.
    func fix(_ latitude: Double, from receiver: String) {
        let time = Date().ISO8601Format(.init(includingFractionalSeconds: true))
        let place = #""lat":\#(latitude),"lon":20.0,"altMSL":10.0"#
        say(#"{"class":"TPV","device":"\#(receiver)","mode":3,"time":"\#(time)",\#(place)}"#)
    }

    func noFix(from receiver: String) { say(#"{"class":"TPV","device":"\#(receiver)","mode":1}"#) }

    /// What it sees of the sky: that many satellites, all of them used.
    func sky(_ satellites: Int, from receiver: String) {
        let list = (1...satellites).map { #"{"PRN":\#($0),"el":45.0,"az":90.0,"ss":40.0,"used":true}"# }
        // libgps 3.25 takes no notice of a report without the two counts.
        let counts = #""nSat":\#(satellites),"uSat":\#(satellites)"#
        say(#"{"class":"SKY","device":"\#(receiver)",\#(counts),"satellites":[\#(list.joined(separator: ","))]}"#)
    }
}
