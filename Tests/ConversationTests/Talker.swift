import Dispatch
import Foundation
import QuickConnect
import QuickConnectClient
import TestRig

/// One client of a conversation: lines out, lines in, whatever lies between it and the daemon.
protocol Talker: Sendable {
    func send(_ line: String) async throws
    /// The next line; nil when the daemon has closed.
    func next() async throws -> String?
    func endInput() async throws
    func close() async
}

extension Talker {
    /// Makes a call in the URL form and gives the next line.
    func ask(_ line: String) async throws -> String? {
        try await send(line)
        return try await next()
    }

    /// The next line as a reply of the URL form.
    func nextReply() async throws -> URLReply? {
        try await next().flatMap { URLReply(Array($0.utf8)) }
    }

    /// The next line as a message of the bridge form.
    func nextMessage() async throws -> JSONObject? {
        guard let line = try await next() else { return nil }
        return try JSONParser.parse(line).objectValue
    }

    /// Passes lines over until the daemon has closed, and gives them.
    func rest() async throws -> [String] {
        var lines: [String] = []
        while let line = try await next() { lines.append(line) }
        return lines
    }
}

extension URLReply {
    /// The code of an error reply.
    var code: String? { command == "error" ? value.objectValue?["code"]?.stringValue : nil }
    var message: String { value.objectValue?["message"]?.stringValue ?? "" }
}

/// A client over the real socket. Its calls block a thread of its own, not one of the tests' pool.
final class SocketTalker: Talker, @unchecked Sendable {
    // Sendable because a test awaits each of its calls before it makes the next.
    private let connection: Connection
    private let queue = DispatchQueue(label: "talker")
    static let patience = Duration.seconds(60)

    init(path: String) throws { connection = try Connection(path: path) }

    var descriptor: Int32 { connection.descriptor }

    func send(_ line: String) async throws {
        try await onQueue { try self.connection.send(line, before: .now + Self.patience) }
    }

    /// Sends bytes as they are, without a line break; on a descriptor that does not block, as many as go.
    func sendRaw(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { _ = Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    func next() async throws -> String? {
        switch try await onQueue({ try self.connection.receive(before: .now + Self.patience) }) {
        case .line(let bytes): return String(decoding: bytes, as: UTF8.self)
        case .closed: return nil
        case .timedOut: throw NotInTime(description: "no line within \(Self.patience)")
        }
    }

    func endInput() async throws { shutdown(descriptor, Int32(SHUT_WR)) }
    func close() async { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private func onQueue<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: work)) }
        }
    }
}
