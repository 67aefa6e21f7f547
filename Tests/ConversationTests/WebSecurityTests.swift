import Foundation
import JSON
import TestRig
import Testing

/// What pages from elsewhere, strangers on the network and careless pages can do to the gateway, with raw bytes over TCP.
@Suite("Attacks on the gateway of pages")
struct WebSecurityTests {
    @Test func `a name that somebody makes point here gets nothing`() async throws {
        let web = try await WebProcess()
        let cookie = try await web.cookie(of: "ann")
        let token = try await web.token(of: "bob")
        let evil = "evil.test:\(web.port)"
        for (method, target) in [
            ("GET", "/"), ("GET", "/login.html"), ("GET", "/session"), ("POST", "/login"), ("POST", "/call?cmd=ping"),
        ] {
            let headers = ["Cookie: \(cookie)", "Authorization: Bearer \(token)", "Origin: http://\(evil)"]
            let answer = try await web.ask(method, target, headers, host: evil, body: method == "POST" ? "{}" : nil)
            #expect(answer.status == 421, "\(method) \(target): \(answer)")
        }
        let (_, answer) = try await web.handshake(["Origin: http://\(evil)", "Cookie: \(cookie)"], host: evil)
        #expect(answer.status == 421 && answer["connection"] == "close")
        #expect(try await web.ask("GET", "/", host: nil).status == 400)
        #expect(try await web.ask("GET", "/", ["Host: localhost"]).status == 400)
    }

    @Test func `a page from elsewhere opens no bridge, whatever cookie it has`() async throws {
        let web = try await WebProcess()
        let cookie = try await web.cookie(of: "ann")
        // Another port of the same host gets the cookie: browsers keep sites apart, and not ports.
        for origin in [
            "http://evil.test", "http://127.0.0.1:\(web.port &+ 1)", "http://127.0.0.1", "https://\(web.host)", "null",
            "http://localhost:\(web.port)", "file://",
        ] {
            let (_, answer) = try await web.handshake(["Origin: \(origin)", "Cookie: \(cookie)"])
            #expect(answer.status == 403, "\(origin)")
        }
        #expect(try await web.handshake(["Cookie: \(cookie)"]).1.status == 403)
        #expect(try await web.handshake(["Origin: \(web.origin)"]).1.status == 401)
        #expect(try await web.handshake(["Origin: \(web.origin)", "Cookie: \(cookie)x"]).1.status == 401)
        #expect(try await web.handshake(["Origin: \(web.origin)", "Cookie: \(cookie)"]).1.status == 101)
        // A program has no origin, but a token.
        let token = try await web.token(of: "bob")
        #expect(try await web.handshake(["Authorization: Bearer \(token)"]).1.status == 101)
        #expect(
            try await web.handshake(["Authorization: Bearer \(token)", "Origin: http://evil.test"]).1.status == 403
        )
    }

    @Test func `a form of another site posts nothing`() async throws {
        let web = try await WebProcess()
        let cookie = try await web.cookie(of: "ann")
        let token = try await web.token(of: "bob")
        let form = "application/x-www-form-urlencoded"
        for target in ["/login", "/logout", "/call?cmd=ping"] {
            for origin in ["http://evil.test", "null"] {
                let headers = ["Origin: \(origin)", "Cookie: \(cookie)", "Content-Type: \(form)"]
                #expect(try await web.ask("POST", target, headers, body: "a=b").status == 403, "\(target)")
            }
        }
        // What a form can send is no log-in, even with the right token in it.
        for type in [form, "text/plain", "multipart/form-data; boundary=x"] {
            let headers = ["Origin: \(web.origin)", "Content-Type: \(type)"]
            #expect(try await web.ask("POST", "/login", headers, body: #"{"token":"\#(token)"}"#).status == 400)
        }
        // A cookie makes no calls: a token does.
        let headers = ["Origin: \(web.origin)", "Cookie: \(cookie)"]
        #expect(try await web.ask("POST", "/call?cmd=ping", headers).status == 401)
        #expect(try await web.ask("GET", "/session", headers).status == 200, "nobody was logged out")
    }

    @Test func `no encoding leads out of the folder`() async throws {
        let web = try await WebProcess()
        let cookie = try await web.cookie(of: "ann")
        try web.folder.write("secret", to: "secret.txt")
        try web.folder.write("secret", to: "pages/.hidden.txt")
        try web.folder.write("secret", to: "pages/key.pem")
        try web.folder.write("right", to: "pages/right.txt")
        for (link, target) in [("out.txt", web.folder("secret.txt")), ("up.txt", "../secret.txt"), ("up", "..")] {
            try FileManager.default.createSymbolicLink(atPath: web.folder("pages/\(link)"), withDestinationPath: target)
        }
        mkfifo(web.folder("pages/pipe.txt"), 0o600)
        let paths = [
            "/../secret.txt", "/%2e%2e/secret.txt", "/%2E%2E%2Fsecret.txt", "/..%2fsecret.txt", "/..%5csecret.txt",
            "/x/../../secret.txt", "/%252e%252e/secret.txt", "/..%c0%afsecret.txt", "/%c0%ae%c0%ae/secret.txt",
            "/..%00/secret.txt", "/right.txt%00.html", "//secret.txt", "/./../secret.txt", "/.hidden.txt",
            "/%2ehidden.txt",
            "/key.pem", "/out.txt", "/up.txt", "/up/secret.txt", "/pipe.txt", "/login/../../secret.txt",
            "/login/..%2f..%2fsecret.txt", "/lib/leaflet/../../../../etc/passwd",
            "/lib/leaflet/%2e%2e/jquery/jquery.js",
            "/lib/../index.html", "/lib//etc/passwd", "/lib/passwd/x.js", web.folder("secret.txt"),
        ]
        for path in paths {
            let answer = try await web.ask("GET", path, ["Cookie: \(cookie)"])
            #expect([400, 404].contains(answer.status) && !answer.text.contains("secret"), "\(path): \(answer)")
        }
        for target in ["http://evil.test/../secret.txt", "*", "file:///etc/passwd"] {
            #expect(try await web.ask("GET", target, ["Cookie: \(cookie)"]).status >= 400)
        }
        #expect(try await web.ask("GET", "/right.txt", ["Cookie: \(cookie)"]).text == "right")
    }

    @Test func `a token is tried again and again`() async throws { try await Self.tries(connections: 1, of: 60) }

    @Test(.slow) func `a token is tried 10,000 times`() async throws { try await Self.tries(connections: 10, of: 1000) }

    private static func tries(connections: Int, of each: Int) async throws {
        let web = try await WebProcess()
        let token = try await web.token(of: "ann")
        var statuses: [Int: Int] = [:]
        let start = ContinuousClock.now
        for _ in 0..<connections {
            let connection = try web.connection()
            let tries = (0..<each).map { number in
                web.request("POST", "/call?cmd=ping", ["Authorization: Bearer \(token.dropLast(4))\(1000 + number)"])
            }
            connection.send(tries.joined())
            for _ in tries { statuses[try await connection.answer().status, default: 0] += 1 }
        }
        // Five a minute, and this takes a minute where much else runs.
        let minutes = Int((ContinuousClock.now - start) / .seconds(60)) + 1
        #expect((5...5 * minutes).contains(statuses[401] ?? 0) && statuses.values.reduce(0, +) == connections * each)
        #expect(Set(statuses.keys) == [401, 429])
        let late = try await web.ask("POST", "/call?cmd=ping", ["Authorization: Bearer wrong"])
        #expect(late.status == 429 && (1...60).contains(Int(late["retry-after"] ?? "") ?? 0))
        // The right one is not delayed, neither as a log-in nor for a WebSocket: others may have the same address.
        let right = ["Authorization: Bearer \(token)"]
        #expect(try await web.ask("POST", "/call?cmd=ping", right).status == 200)
        let json = ["Content-Type: application/json"]
        #expect(try await web.ask("POST", "/login", json, body: #"{"token":"\#(token)"}"#).status == 200)
        #expect(try await web.handshake(right).1.status == 101)
        #expect(try await web.ask("POST", "/login", json, body: #"{"code":"wrong"}"#).status == 429)
        #expect(try await web.ask("POST", "/login", json, body: #"{"code":"wrong"}"#, from: "127.0.0.2").status == 401)
    }

    @Test func `a frame of 1 GB, frames that are not masked, and binary ones end the page and nothing else`()
        async throws
    {
        _ = try await Self.sendBadFrames()
    }

    @Test(.measured) func `a frame of 1 GB costs little memory`() async throws {
        let cost = try await Self.sendBadFrames()
        #expect(cost < 40_000, "KiB")
    }

    /// - Returns: the memory that they took, in KiB.
    private static func sendBadFrames() async throws -> Int {
        let web = try await WebProcess()
        let cookie = try await web.cookie(of: "ann")
        let memory = web.web.memory
        let other = try await web.page(cookie)
        let attacks: [(bytes: [UInt8], code: Int)] = [
            ([0x81, 0xFF, 0, 0, 0, 0, 0x40, 0, 0, 0, 1, 2, 3, 4] + [UInt8](repeating: 65, count: 1 << 20), 1009),
            (WebConnection.frame(1, Array("call?cmd=ping&id=1".utf8), isMasked: false), 1002),
            (WebConnection.frame(2, [1, 2, 3]), 1003),
            (WebConnection.frame(1, [0xC3, 0x28]), 1007),
            ([0xC1, 0x81, 1, 2, 3, 4, 5], 1002),
            (WebConnection.frame(0, [65]), 1002),
        ]
        for attack in attacks {
            let page = try await web.page(cookie)
            page.send(attack.bytes)
            let code = try await page.closeCode()
            #expect(code == attack.code, "\(attack.bytes.prefix(14))")
            page.send(WebConnection.frame(8, [3, 232]))
            try await page.end()
        }
        // A message of many fragments has the same limit.
        let page = try await web.page(cookie)
        page.send(WebConnection.frame(1, [65], isFinal: false))
        let fragment = WebConnection.frame(0, [UInt8](repeating: 65, count: 60_000), isFinal: false)
        for _ in 0..<75 { page.send(fragment) }
        #expect(try await page.closeCode() == 1009)
        #expect(try await other.ask("call?cmd=ping&id=1") == "handleJSONRequest?cmd=ping&msg=null&id=1")
        return web.web.memory - memory
    }

    @Test func `slow heads, and heads too large`() async throws {
        let web = try await WebProcess()
        let silent = try web.connection()
        let half = try web.connection()
        half.send("GET / HTTP/1.1\r\nHost: \(web.host)\r\nX: ")
        let trickle = try web.connection()
        trickle.send("GET / HTTP/1.1\r\nHost: \(web.host)\r\n")
        let start = ContinuousClock.now
        let feeding = Task {
            while !Task.isCancelled {
                trickle.send("X: y\r\n")
                // Sleeps as somebody who wants to hold a place.
                try await Task.sleep(for: .milliseconds(500))
            }
        }
        for connection in [silent, half, trickle] { try await connection.end() }
        feeding.cancel()
        #expect(ContinuousClock.now - start > .seconds(8))

        for head in [
            "X: " + String(repeating: "x", count: 40_000), (0..<200).map { "X\($0): y" }.joined(separator: "\r\n"),
        ] {
            let connection = try web.connection()
            connection.send(web.request("GET", "/login.html", [head]))
            #expect(try await (connection.answer()).status >= 400)
            try await connection.end()
        }
        let rubbish = try web.connection()
        rubbish.send([UInt8](repeating: 0x16, count: 300))
        try await rubbish.end()
        #expect(try await web.ask("GET", "/").status == 401)
    }

    @Test(.slow) func `5,000 connections`() async throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // Programs that other tests start inherit it, and gpsd's select(2) is made for 1,024.
        var before = limit
        defer { setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before) }
        limit.rlim_cur = min(limit.rlim_max, 20_000)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let count = min(5000, Int(limit.rlim_cur) - 500)
        let web = try await WebProcess(.init(web: "connections: 1500"))
        let cookie = try await web.cookie(of: "ann")
        let page = try await web.page(cookie)
        var connections: [WebConnection] = []
        for _ in 0..<count { connections.append(try web.connection()) }
        // An address has a quarter, and its oldest idle ones make room.
        for connection in connections.prefix(count - 375) { try await connection.end() }
        #expect(try await page.ask("call?cmd=ping&id=1") == "handleJSONRequest?cmd=ping&msg=null&id=1")
        let session = ["Cookie: \(cookie)"]
        #expect(try await web.ask("GET", "/session", session).status == 200, "of the same address")
        #expect(try await web.ask("GET", "/session", session, from: "127.0.0.2").status == 200)
        connections = []
        try await eventually("there is room again") { try await web.ask("GET", "/session").status == 401 }
        #expect(web.web.memory < 80_000, "KiB")
    }

    @Test func `a page cannot be somebody else, and groups are those of its user`() async throws {
        let rules = "sounds: {allow: {groups: [\"web:ops\"]}}\nloc: {allow: {users: [\"web:bob\"]}}\n"
        let web = try await WebProcess(.init(mappings: rules))
        let ann = try await web.page(web.cookie(of: "ann"))
        let bob = try await web.page(web.cookie(of: "bob", groups: ["ops"]))
        func code(_ page: WebConnection, _ line: String) async throws -> String? {
            let line = try await page.ask(line) ?? ""
            return ["denied", "unknownCommand"].first { line.contains($0) }
        }
        for page in [ann, bob] {
            let line = #"{"handlerName":"actFor","data":["root",{"groups":["ops"]}],"callbackId":"1"}"#
            #expect(try await code(page, line) == "denied")
            #expect(try await code(page, "call?cmd=reload&id=2") == "denied")
            #expect(try await code(page, "call?cmd=web&msg=%5B%22open%22%5D&id=3") == "denied")
            #expect(try await code(page, "call?cmd=registerHandler&msg=web&id=4") == "denied")
            // Two lines in one frame are two lines.
            page.say("call?cmd=ping&id=5\ncall?cmd=reload&id=6\r\ncall?cmd=ping&id=7")
            #expect(try await page.line()?.contains("id=5") == true)
            #expect(try await page.line()?.contains("denied") == true)
            #expect(try await page.line()?.contains("id=7") == true)
        }
        #expect(try await code(ann, "call?cmd=sounds&id=8") == "denied")
        #expect(try await code(ann, "call?cmd=loc&id=9") == "denied")
        #expect(try await code(bob, "call?cmd=sounds&id=8") == nil)
        #expect(try await code(bob, "call?cmd=loc&id=9") == nil)
    }

    @Test(.measured) func `a page that does not read costs little, and nobody else anything`() async throws {
        let web = try await WebProcess()
        let cookie = try await web.cookie(of: "ann")
        let other = try await web.page(cookie)
        let memory = (web.web.memory, web.daemon.memory)
        let deaf = try await web.page(cookie)
        // Far more answers than any buffer takes.
        let calls = (0..<1000).map { _ in WebConnection.frame(1, Array("call?cmd=sounds&id=1".utf8)) }.flatMap(\.self)
        for _ in 0..<200 { deaf.send(calls) }
        for _ in 0..<100 {
            #expect(try await other.ask("call?cmd=ping&id=1") == "handleJSONRequest?cmd=ping&msg=null&id=1")
        }
        #expect(web.web.memory - memory.0 < 20_000, "KiB of the gateway")
        #expect(web.daemon.memory - memory.1 < 40_000, "KiB of the daemon")
        deaf.close()
    }

    @Test func `pages that are gone before they are there`() async throws {
        let web = try await WebProcess()
        let cookie = try await web.cookie(of: "ann")
        let request = web.request(
            "GET",
            "/bridge",
            [
                "Origin: \(web.origin)", "Cookie: \(cookie)", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            ]
        )
        let first = Array(request.utf8) + WebConnection.frame(1, Array("call?cmd=ping&id=1".utf8))
        // What is sent with the handshake is not lost.
        let eager = try web.connection()
        eager.send(first)
        #expect(try await eager.answer().status == 101)
        #expect(try await eager.line() == "handleJSONRequest?cmd=ping&msg=null&id=1")
        for round in 0..<4 {
            for number in 0..<100 {
                let page = try web.connection()
                page.send(number % 2 == 0 ? first : Array(request.utf8))
                await page.flush()
                if number % 3 == 0 { page.reset() }
            }
            // The daemon goes amid handshakes, too.
            guard round % 2 == 1 else { continue }
            let late = try (0..<50).map { _ in try web.connection() }
            for page in late { page.send(first) }
            try await web.killDaemon()
            for page in late { try await page.end() }
            try await web.startDaemon()
        }
        #expect(web.web.poll() == nil)
        try await web.awaitControl()
        #expect(try await web.page(cookie).ask("call?cmd=ping&id=2")?.contains("id=2") == true)
        try await eventually("none of them is left") {
            let sessions = try await web.connect().value("web", ["sessions"])
            return sessions.arrayValue?.first?.objectValue?["pages"]?.integerValue ?? 9 <= 1
        }
    }

    @Test func `a browser that asks for an icon gets one, also before the log-in`() async throws {
        let web = try await WebProcess()
        try web.folder.write("<svg/>", to: "pages/favicon.svg")
        for path in ["/favicon.ico", "/favicon.svg"] {
            let icon = try await web.ask("GET", path)
            #expect(icon.status == 200 && icon["content-type"] == "image/svg+xml" && icon.text == "<svg/>", "\(path)")
            let known = try await web.ask("GET", path, ["If-None-Match: \(icon["etag"] ?? "")"])
            #expect(known.status == 304, "\(path)")
        }
        try web.folder.write("own", to: "pages/favicon.ico")
        let own = try await web.ask("GET", "/favicon.ico")
        #expect(own["content-type"] == "image/x-icon" && own.text == "own")
        #expect(try await web.ask("GET", "/a/favicon.ico").status == 401)
    }

    @Test func `every answer has the headers that keep a page to itself`() async throws {
        let web = try await WebProcess()
        let cookie = try await web.cookie(of: "ann")
        for (target, status) in [("/", 200), ("/none.html", 404), ("/session", 200), ("/.x", 404)] {
            let answer = try await web.ask("GET", target, ["Cookie: \(cookie)"])
            let policy = answer["content-security-policy"] ?? ""
            #expect(answer.status == status, "\(target)")
            for part in ["default-src 'none'", "script-src 'self';", "frame-ancestors 'self'", "form-action 'self'"] {
                #expect(policy.contains(part), "\(target)")
            }
            #expect(policy.contains("connect-src 'self' ws://\(web.host)"))
            #expect(answer["x-content-type-options"] == "nosniff" && answer["referrer-policy"] == "same-origin")
            #expect(answer["cross-origin-resource-policy"] == "same-origin")
        }
        for request in ["GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "get / HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}"] {
            let connection = try web.connection()
            connection.send(request)
            let answer = try await connection.answer()
            #expect(answer.status == 400 && answer.code == "badRequest" && answer["connection"] == "close")
            #expect(answer["x-content-type-options"] == "nosniff" && answer["content-security-policy"] != nil)
            try await connection.end()
        }
        let login = try await web.ask(
            "POST",
            "/login",
            ["Content-Type: application/json"],
            body: #"{"token":"\#(web.token(of: "bob"))"}"#
        )
        let set = login["set-cookie"] ?? ""
        #expect(set.contains("HttpOnly") && set.contains("SameSite=Strict") && !set.contains("Secure"))
    }
}
