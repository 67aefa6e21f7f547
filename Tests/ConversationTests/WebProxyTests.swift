import Foundation
import JSON
import TestRig
import Testing

/// Behind the real nginx, under a path of its own, as docs/web.md shows it.
@Suite("Behind nginx", .needs("nginx"))
struct WebProxyTests {
    /// nginx, and the port that it has found free: it cannot tell one, so that another program may have taken it meanwhile.
    private func start(_ web: WebProcess, _ folder: TestFolder) async throws -> (proxy: ChildProcess, port: UInt16) {
        while true {
            let port = try Self.freePort()
            let proxy = try nginx(web, folder, port: port)
            let isTaken = { proxy.errors.contains("Address already in use") }
            try await eventually("nginx listens") {
                if proxy.poll() != nil, !isTaken() { throw NotInTime(description: "nginx: \(proxy.errors)") }
                return isTaken() || (try? WebConnection(port)) != nil
            }
            if !isTaken() { return (proxy, port) }
        }
    }

    /// nginx as a process of this user's, on private paths.
    private func nginx(_ web: WebProcess, _ folder: TestFolder, port: UInt16) throws -> ChildProcess {
        let documented = try String(contentsOfFile: Products.root + "/docs/web.md", encoding: .utf8)
        let example =
            documented.components(separatedBy: "```nginx\n").dropFirst().first?
            .components(separatedBy: "```").first ?? ""
        let location = example.replacingOccurrences(
            of: "/run/quickconnect-web/http.sock",
            with: web.folder("http.sock")
        )
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder($0));" }
        try folder.write(
            """
            daemon off;
            master_process off;
            pid \(folder("pid"));
            error_log stderr;
            user root;
            worker_processes 1;
            events {}
            http {
              access_log off;
              \(temporary.joined(separator: "\n"))
              server {
                listen 127.0.0.1:\(port);
                \(location)
              }
            }
            """,
            to: "nginx.conf"
        )
        return try ChildProcess("nginx", ["-e", "stderr", "-p", folder.path, "-c", folder("nginx.conf")])
    }

    @Test func `pages, log-in and bridge under a sub-path`() async throws {
        let folder = try TestFolder()
        let place = try TestFolder()
        let web = try await WebProcess(.init(web: "address: http://127.0.0.1/kiosk/", listen: place("http.sock")))
        try FileManager.default.createSymbolicLink(
            atPath: web.folder("http.sock"),
            withDestinationPath: place("http.sock")
        )
        let (proxy, port) = try await start(web, folder)
        defer { proxy.send(SIGTERM) }
        func ask(_ method: String, _ target: String, _ headers: [String] = [], _ body: String? = nil) async throws
            -> WebAnswer
        {
            let connection = try WebConnection(port)
            connection.send(web.request(method, target, headers, host: "127.0.0.1:\(port)", body: body))
            return try await connection.answer()
        }
        let lost = try await ask("GET", "/kiosk/a/b.html", ["Accept: text/html"])
        #expect(lost.status == 303 && lost["location"] == "../login.html?next=.%2Fa%2Fb.html")
        let token = try await web.token(of: "ann")
        let json = ["Content-Type: application/json", "Origin: http://127.0.0.1:\(port)"]
        let login = try await ask("POST", "/kiosk/login", json, #"{"token":"\#(token)"}"#)
        let cookie = try #require(login.cookie)
        let session = ["Cookie: \(cookie)"]
        #expect(try await ask("GET", "/kiosk/", session).text.contains("hello"))
        #expect(try await ask("GET", "/kiosk/session", session).json.objectValue?["user"] == "ann")
        let called = try await ask("POST", "/kiosk/call?cmd=ping", ["Authorization: Bearer \(token)"])
        #expect(called.status == 200)
        #expect(
            try await ask("POST", "/kiosk/login", json.dropLast() + ["Origin: http://evil.test"], "{}").status == 403
        )
        let (exit, output) = try await ChildProcess.run(
            Products.path("quickconnect"),
            ["web", "open", "--socket", web.socket]
        )
        #expect(exit == .status(0) && output.hasPrefix("http://127.0.0.1/kiosk/login.html#code="))

        let page = try WebConnection(port)
        page.send(
            web.request(
                "GET",
                "/kiosk/bridge",
                session + [
                    "Origin: http://127.0.0.1:\(port)", "Upgrade: websocket", "Connection: Upgrade",
                    "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                ],
                host: "127.0.0.1:\(port)"
            )
        )
        #expect(try await page.answer().status == 101)
        #expect(try await page.ask("call?cmd=ping&id=1") == "handleJSONRequest?cmd=ping&msg=null&id=1")
        // Tries are counted by what nginx says of its client, and cost nobody else anything.
        let wrong = try await ask("POST", "/kiosk/login", json, #"{"token":"wrong"}"#)
        #expect(
            String(decoding: wrong.body, as: UTF8.self).contains("that token is not valid; the owner makes a new one")
        )
        for _ in 0..<4 { _ = try await ask("POST", "/kiosk/login", json, #"{"token":"wrong"}"#) }
        #expect(try await ask("POST", "/kiosk/login", json, #"{"token":"wrong"}"#).status == 429)
        #expect(try await ask("POST", "/kiosk/login", json, #"{"token":"\#(token)"}"#).status == 200)
        #expect(try await page.ask("call?cmd=ping&id=2") == "handleJSONRequest?cmd=ping&msg=null&id=2")
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard result == 0 else { throw NotInTime(description: "no free port") }
        return UInt16(bigEndian: address.sin_port)
    }
}
