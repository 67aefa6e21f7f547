import Conversations
import Dispatch
import Foundation
import JSON
import Linux
import QuickConnect
import QuickConnectClient
import TestRig
import Testing

extension URLReply {
    /// The code of an error reply.
    var code: String? { command == "error" ? value.objectValue?["code"]?.stringValue : nil }
    var message: String { value.objectValue?["message"]?.stringValue ?? "" }
}

/// A client over the real socket. Its calls block threads of its own, not those of the tests' pool.
final class SocketClient: ConversationClient, @unchecked Sendable {
    // Sendable because sending only uses the descriptor, and a test awaits one line before it asks for the next.
    private let connection: DaemonConnection
    private let sending = DispatchQueue(label: "sending")
    private let receiving = DispatchQueue(label: "receiving")
    private var splitter = LineSplitter()
    private var lines: [String] = []

    /// Compares the answers with what the mappings declare.
    private let answers: AnswerCheck?

    init(path: String, answers: AnswerCheck? = nil) throws {
        connection = try DaemonConnection(path: path)
        self.answers = answers
    }

    var descriptor: Int32 { connection.descriptor }

    /// Sends bytes as they are, behind those before, while the test goes on.
    func send(_ bytes: [UInt8]) {
        answers?.note(sent: bytes)
        sending.async { Self.write(bytes, to: self.descriptor) }
    }

    /// Sends a line.
    func send(_ line: String) { send([UInt8]("\(line)\n".utf8)) }

    func nextLine(within deadline: Duration) async throws -> String? {
        try await withCheckedThrowingContinuation { continuation in
            receiving.async {
                continuation.resume(with: Result { try self.receive(before: .now + deadline, deadline) })
            }
        }
    }

    /// Nil where the daemon has closed the connection.
    private func receive(before end: ContinuousClock.Instant, _ deadline: Duration) throws -> String? {
        while lines.isEmpty {
            guard try connection.wait(for: .input, before: end) else {
                throw NotInTime(description: "no line within \(deadline)")
            }
            let isOpen = try connection.receiveSome { bytes in
                splitter.split(bytes) {
                    if case .line(let line) = $0 { lines.append(String(decoding: line, as: UTF8.self)) }
                }
            }
            guard isOpen else { return nil }
        }
        let line = lines.removeFirst()
        if let problem = answers?.problem(of: line) { Issue.record("\(problem)") }
        return line
    }

    func endInput() { shut(Int32(SHUT_WR)) }
    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Behind all that is still to be sent.
    private func shut(_ how: Int32) {
        sending.async { shutdown(self.descriptor, how) }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

extension SocketClient {
    func next() async throws -> String? { try await nextLine(within: hangGuard) }

    /// Sends a line and gives the next one.
    func ask(_ line: String) async throws -> String? {
        send(line)
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
