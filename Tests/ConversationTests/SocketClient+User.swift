import Foundation
import JSON
import QuickConnect
import TestRig

extension DaemonProcess {
    /// A client of another user, on the ordinary socket.
    func connect(as user: UInt32) throws -> SocketClient {
        guard chmod(socket, 0o666) == 0 else { throw NotInTime(description: "the socket cannot be opened to others") }
        return try OtherUser.act(as: user) { try connect() }
    }

    /// A client of nobody's.
    func stranger() throws -> SocketClient { try connect(as: OtherUser.stranger) }
}

extension SocketClient {
    /// Makes a call and gives its reply, whatever it is.
    func reply(_ command: String, _ parameters: JSONValue) async throws -> URLReply {
        let id = "r\(Int.random(in: 0...Int.max))"
        send("call?cmd=\(command)&id=\(id)&msg=\(PercentEncoding.encode(parameters.text))")
        while let reply = try await nextReply() {
            if reply.id == id { return reply }
        }
        throw NotInTime(description: "no answer to \(command)")
    }
}
