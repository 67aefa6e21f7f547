import Dispatch
import Foundation
import JSON
import TestRig

/// The answer to a request.
struct WebAnswer: CustomStringConvertible {
    var status = 0
    /// Names in lower case.
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []

    subscript(name: String) -> String? { headers.first { $0.name == name }?.value }
    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue { (try? JSONParser.parse(text)) ?? .null }
    var code: String? { json.objectValue?["code"]?.stringValue }
    /// NAME=VALUE of the cookie that is set.
    var cookie: String? { self["set-cookie"].map { String($0.prefix { $0 != ";" }) } }
    var description: String { "\(status) \(headers) \(text)" }

    init?(head: String) {
        let lines = head.components(separatedBy: "\r\n")
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        self.status = status
        headers = lines.dropFirst().filter { !$0.isEmpty }.map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (parts[0].lowercased(), parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
        }
    }
}

/// A TCP connection, with bytes as they are. What blocks does so on threads of its own.
final class WebConnection: @unchecked Sendable {
    // Sendable because sending only uses the descriptor, and a test awaits one answer before it asks for the next.
    private let descriptor: Int32
    private let sending = DispatchQueue(label: "sending")
    private let receiving = DispatchQueue(label: "receiving")
    private var received: [UInt8] = []

    /// - Parameter address: of this end.
    init(_ port: UInt16, from address: String? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw NotInTime(description: "socket: \(String(cString: strerror(errno)))") }
        if let address { _ = Self.with(address, 0) { bind(descriptor, $0, $1) } }
        guard Self.with("127.0.0.1", port, { connect(descriptor, $0, $1) }) == 0 else {
            let code = errno
            Foundation.close(descriptor)
            throw NotInTime(description: "connect: \(String(cString: strerror(code)))")
        }
    }

    deinit { Foundation.close(descriptor) }

    /// Calls a function of sockets with an address.
    static func with(
        _ text: String,
        _ port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr(text)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends bytes behind those before, while the test goes on.
    func send(_ bytes: [UInt8]) {
        // Keeps this object: its descriptor must not be another connection's by then.
        sending.async { [self] in
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

    /// How much the kernel has taken of what was sent is unknown until this returns.
    func flush() async { await withCheckedContinuation { done in sending.async { done.resume() } } }

    /// Ends it as a crashed machine does: the other end gets an error.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Receives at least so many bytes in all.
    /// - Returns: false at the end of input.
    private func receive(until isEnough: @escaping @Sendable ([UInt8]) -> Bool, within time: Duration) async throws
        -> Bool
    {
        try await withCheckedThrowingContinuation { continuation in
            receiving.async {
                continuation.resume(with: Result { try self.receiveNow(isEnough, before: .now + time) })
            }
        }
    }

    private func receiveNow(_ isEnough: ([UInt8]) -> Bool, before end: ContinuousClock.Instant) throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isEnough(received) {
            let left = max(0, (end - .now) / .milliseconds(1))
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, Int32(left)) > 0 else { throw NotInTime(description: "nothing came") }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            received += buffer.prefix(count)
        }
        return true
    }

    private func take(_ count: Int) -> [UInt8] {
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    // MARK: HTTP

    /// The next answer; an error where the connection ends before.
    func answer(isHead: Bool = false, within time: Duration = hangGuard) async throws -> WebAnswer {
        let gap = Array("\r\n\r\n".utf8)
        guard try await receive(until: { $0.firstRange(of: gap) != nil }, within: time),
            let range = received.firstRange(of: gap),
            var answer = WebAnswer(head: String(decoding: take(range.upperBound), as: UTF8.self))
        else { throw NotInTime(description: "no answer, but the end") }
        let count =
            answer.status == 304 || answer.status == 101 || isHead ? 0 : Int(answer["content-length"] ?? "") ?? 0
        guard try await receive(until: { $0.count >= count }, within: time) else {
            throw NotInTime(description: "half an answer: \(answer)")
        }
        answer.body = take(count)
        return answer
    }

    /// All that comes until the other end closes the connection.
    func rest(within time: Duration = hangGuard) async throws -> [UInt8] {
        try await end(within: time)
        return take(received.count)
    }

    /// Waits until the other end has closed the connection.
    func end(within time: Duration = hangGuard) async throws {
        while try await receive(until: { [count = received.count] in $0.count > count }, within: time) {}
    }

    // MARK: WebSocket

    /// A frame as a browser sends it.
    static func frame(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, isMasked: Bool = true) -> [UInt8] {
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | opcode]
        let mask: UInt8 = isMasked ? 0x80 : 0
        let count = payload.count
        if count < 126 {
            bytes.append(mask | UInt8(count))
        } else {
            let size = count <= 0xFFFF ? 2 : 8
            bytes.append(mask | (size == 2 ? 126 : 127))
            bytes += (0..<size).map { UInt8(truncatingIfNeeded: count >> (8 * (size - 1 - $0))) }
        }
        guard isMasked else { return bytes + payload }
        let key: [UInt8] = [1, 2, 3, 4]
        return bytes + key + payload.enumerated().map { $1 ^ key[$0 & 3] }
    }

    func say(_ line: String) { send(Self.frame(1, Array(line.utf8))) }

    /// The next frame; nil at the end of input.
    func frame(within time: Duration = hangGuard) async throws -> (opcode: UInt8, payload: [UInt8])? {
        guard try await receive(until: { $0.count >= 2 }, within: time) else { return nil }
        let short = Int(received[1])
        let size = short == 126 ? 4 : short == 127 ? 10 : 2
        guard try await receive(until: { $0.count >= size }, within: time) else { return nil }
        let count = size == 2 ? short : received[2..<size].reduce(0) { $0 << 8 | Int($1) }
        guard try await receive(until: { $0.count >= size + count }, within: time) else { return nil }
        let opcode = received[0] & 15
        return (opcode, Array(take(size + count).dropFirst(size)))
    }

    /// The next line.
    func line(within time: Duration = hangGuard) async throws -> String? {
        guard let (opcode, payload) = try await frame(within: time) else { return nil }
        return opcode == 1 ? String(decoding: payload, as: UTF8.self) : "opcode \(opcode): \(payload)"
    }

    func ask(_ line: String) async throws -> String? {
        say(line)
        return try await self.line()
    }

    /// The code of the next goodbye; lines before it are passed over.
    func closeCode(within time: Duration = hangGuard) async throws -> Int? {
        while let (opcode, payload) = try await frame(within: time) {
            if opcode == 8 { return payload.count > 1 ? Int(payload[0]) << 8 | Int(payload[1]) : 0 }
        }
        return nil
    }
}

extension [UInt8] {
    fileprivate func firstRange(of bytes: [UInt8]) -> Range<Int>? {
        guard count >= bytes.count else { return nil }
        return (0...(count - bytes.count)).first { self[$0..<($0 + bytes.count)].elementsEqual(bytes) }.map {
            $0..<($0 + bytes.count)
        }
    }
}
