import Foundation
public import JSON
import Linux

/// A Unix socket that says only what a test lets it say. Nothing of it blocks.
public final class TinyDaemon: @unchecked Sendable {
    // Sendable because only the test that made it uses it, one call after the other.
    private let folder: TestFolder
    private let listener: Int32
    private var client: Int32 = -1
    private var splitter = LineSplitter()
    private var lines: [String] = []
    public var path: String { folder("socket") }

    public init() throws {
        folder = try TestFolder()
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(folder("socket").utf8)) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0, listen(listener, 8) == 0 else { throw NotInTime(description: "no socket: \(errno)") }
    }

    deinit {
        hangUp()
        close(listener)
    }

    /// Ends the connection to the client.
    public func hangUp() {
        if client >= 0 { close(client) }
        client = -1
        splitter.clear()
    }

    public func send(_ lines: String...) {
        let bytes = Array(lines.map { "\($0)\n" }.joined().utf8)
        _ = Foundation.send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// The next line that a client sends, over the next connection where there is none.
    public func next() async throws -> String {
        try await eventually("a line") {
            if client < 0 { client = accept(listener, nil, nil) }
            if client >= 0 { receive() }
            return !lines.isEmpty
        }
        return lines.removeFirst()
    }

    private func receive() {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(client, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { return }
        bytes.withUnsafeBufferPointer { bytes in
            splitter.split(UnsafeBufferPointer(rebasing: bytes[..<count])) { line in
                if case .line(let line) = line { lines.append(String(decoding: line, as: UTF8.self)) }
            }
        }
    }

    /// The next line, as a message.
    public func nextMessage() async throws -> JSONObject { try JSONParser.parse(try await next()).objectValue ?? [:] }

    /// Answers the next call with a value, and gives the call.
    @discardableResult
    public func answerNext(_ value: JSONValue = .null) async throws -> JSONObject {
        let message = try await nextMessage()
        let answer: JSONValue = ["responseId": message["callbackId"] ?? .null, "responseData": value]
        send(answer.text)
        return message
    }
}
