import CommandLineText
import Glibc
import Linux

/// A visit of the pages as a browser makes it: a log-in with a one-time code, the WebSocket to the daemon, a log-out.
struct PageVisit {
    /// Where, as `http://192.168.1.20:8467`.
    let address: String
    private let host: String
    private let port: String
    private let code: String

    private static let seconds = 10
    private static let maximumBytes = 1 << 16

    /// - Parameter link: an address that logs a browser in.
    init?(_ link: String) {
        let authority = LoginAddress.authority(of: link)
        let parts = link.split(separator: "#code=")
        guard link.hasPrefix("http://"), let colon = authority.lastIndex(of: ":"), parts.count == 2 else { return nil }
        address = "http://\(authority)"
        host = String(authority[..<colon])
        port = String(authority[authority.index(after: colon)...])
        code = String(parts[1])
    }

    /// Throws the sentence that says what does not work.
    func check() throws {
        let json = ["Content-Type: application/json"]
        let answer = try ask("POST /login", json, body: "{\"code\":\"\(code)\"}")
        guard answer.status == "200", let cookie = answer.cookie else { throw failure("POST /login", answer) }
        let own = ["Cookie: \(cookie)", "Origin: \(address)"]
        let upgrade = [
            "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: cXVpY2tjb25uZWN0LXNldA==",
        ]
        let bridge = try ask("GET /bridge", own + upgrade, isUpgrade: true)
        _ = try ask("POST /logout", own, body: "")
        guard bridge.status == "101" else { throw failure("GET /bridge", bridge) }
    }

    private func failure(_ request: String, _ answer: Answer) -> ExitError {
        let text = answer.body.isEmpty ? "" : ": \(answer.body.split(separator: "\n")[0])"
        return ExitError(
            message: "the pages at \(address) do not work: \(request) was answered with \(answer.status)\(text)"
        )
    }

    // MARK: One request, on a connection of its own

    private struct Answer {
        let status: String
        let cookie: String?
        let body: String

        init(_ text: String) {
            let parts = text.split(separator: "\r\n\r\n", maxSplits: 1)
            let lines = (parts.first ?? "").split(separator: "\r\n")
            let words = (lines.first ?? "").split(separator: " ")
            status = words.count > 1 ? String(words[1]) : "nothing"
            cookie = lines.first { $0.lowercased().hasPrefix("set-cookie: ") }
                .map { String($0.dropFirst("set-cookie: ".count).prefix { $0 != ";" }) }
            body = parts.count > 1 ? String(parts[1]) : ""
        }
    }

    private func ask(_ request: String, _ headers: [String], body: String? = nil, isUpgrade: Bool = false) throws
        -> Answer
    {
        let descriptor = try connect()
        defer { close(descriptor) }
        var lines = ["\(request) HTTP/1.1", "Host: \(host):\(port)", "Connection: \(isUpgrade ? "Upgrade" : "close")"]
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        let text = (lines + headers + ["", ""]).joined(separator: "\r\n") + (body ?? "")
        guard Descriptor.write(text, to: descriptor) == 0 else { throw unreachable("it reads nothing") }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while answer.count < Self.maximumBytes {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            answer += buffer[..<count]
            // A WebSocket stays open behind the head.
            if isUpgrade, answer.suffix(4) == [13, 10, 13, 10] { break }
        }
        return Answer(String(decoding: answer, as: UTF8.self))
    }

    private func connect() throws -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        // An address of IPv6 has brackets in an address of the web only.
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let code = getaddrinfo(name, port, &hints, &list)
        guard code == 0 else { throw unreachable(String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(list) }
        var problem = "it has no address"
        var next = list
        while let entry = next?.pointee {
            next = entry.ai_next
            let descriptor = socket(
                entry.ai_family,
                entry.ai_socktype | Int32(SOCK_CLOEXEC.rawValue),
                entry.ai_protocol
            )
            guard descriptor >= 0 else { continue }
            var time = timeval(tv_sec: Self.seconds, tv_usec: 0)
            for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
                setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
            }
            if Glibc.connect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 { return descriptor }
            problem = SystemCallError.text(errno)
            close(descriptor)
        }
        throw unreachable(problem)
    }

    private func unreachable(_ reason: String) -> ExitError {
        ExitError(message: "the pages at \(address) cannot be reached: \(reason)")
    }
}
