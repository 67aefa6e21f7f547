import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// What one peer may take of the gateway, with raw bytes over TCP: bodies, requests, connections, sessions, pages.
@Suite("Shares at the gateway of pages")
struct WebLimitsTests {
    @Test(.measured) func `a body that is refused by its head costs no memory`() async throws {
        let most = try await Self.refuseBodies(WebProcess())
        #expect(most < 8 << 10, "KiB")
    }

    /// - Returns: the most memory that it took, in KiB.
    private static func refuseBodies(_ web: WebProcess) async throws -> Int {
        _ = try await web.ask("GET", "/login.html")
        let before = web.web.anonymousMemory
        let large = String(repeating: "x", count: 4 << 20)
        let connections = try (0..<100).map { _ in try web.connection() }
        for connection in connections {
            connection.send(web.request("POST", "/call", ["Authorization: Bearer wrong"], body: large))
        }
        var most = 0
        for connection in connections {
            #expect([401, 429].contains(try await connection.answer().status))
            most = max(most, web.web.anonymousMemory - before)
        }
        return most
    }

    @Test func `a body is refused by its head`() async throws {
        let web = try await WebProcess()
        _ = try await Self.refuseBodies(web)
        // Not even asked for.
        let askers: [(headers: [String], host: String, statuses: [Int])] = [
            // A minute after the first tries others count again.
            (["Authorization: Bearer wrong"], "", [429, 401]), ([], "", [401]), ([], "evil.test", [421]),
            (["Origin: http://evil.test"], "", [403]),
        ]
        for (headers, host, statuses) in askers {
            let asking = try web.connection()
            let expecting = headers + ["Expect: 100-continue", "Content-Length: 4000000"]
            asking.send(web.request("POST", "/call", expecting, host: host))
            let answer = try await asking.answer()
            let isRefused = statuses.contains(answer.status) && answer["connection"] == "close"
            #expect(isRefused, "\(headers) \(host): \(answer)")
            try await asking.end()
        }
        let token = try await web.token(of: "ann")
        let tooLong = try web.connection()
        let expecting = ["Authorization: Bearer \(token)", "Expect: 100-continue", "Content-Length: 5000000"]
        tooLong.send(web.request("POST", "/call", expecting))
        #expect(try await tooLong.answer().status == 413)
        // In chunks, too.
        let chunked = try web.connection()
        chunked.send(web.request("POST", "/login", ["Transfer-Encoding: chunked"]) + "8000\r\n")
        chunked.send(String(repeating: "x", count: 0x8000))
        #expect(try await chunked.answer().status == 413)
    }

    @Test func `a head has up to 32 KiB and 100 lines, and a version that is spoken here`() async throws {
        let web = try await WebProcess()
        let long = "X: \(String(repeating: "x", count: 31 << 10))"
        let lines = (0..<101).map { "X-\($0): x" }
        for (headers, status) in [([long], 200), (Array(lines.prefix(99)), 200), ([long, long], 431), (lines, 431)] {
            let answer = try await web.ask("GET", "/login.html", headers)
            #expect(answer.status == status && (status == 200 || answer["connection"] == "close"), "\(answer)")
            #expect(status == 200 || answer.text.contains("up to 32768 bytes and 100 lines"), "\(answer)")
        }
        for (request, status) in [
            ("GET /login.html HTTP/1.0\r\n\r\n", 200), ("GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", 505),
            ("GET / HTTP/1.2\r\nHost: localhost\r\n\r\n", 505),
        ] {
            let connection = try web.connection()
            connection.send(request)
            #expect(try await connection.answer().status == status, "\(request)")
        }
    }

    @Test(.measured) func `requests behind each other cost little memory`() async throws {
        let (web, before, deaf) = try await Self.holdRequests()
        #expect(web.web.anonymousMemory - before < 8 << 10, "KiB")
        withExtendedLifetime(deaf) {}
    }

    /// Sends requests, and reads no answer.
    private static func holdRequests() async throws -> (web: WebProcess, memory: Int, deaf: WebConnection) {
        let web = try await WebProcess()
        let cookie = ["Cookie: \(try await web.cookie(of: "ann"))"]
        try web.folder.write(String(repeating: "0123456789", count: 6000), to: "pages/big.js")
        _ = try await web.ask("GET", "/big.js", cookie)
        let before = web.web.anonymousMemory
        let request = web.request("GET", "/big.js", cookie)
        let count = 1_400_000 / request.utf8.count
        let deaf = try web.connection()
        deaf.send(String(repeating: request, count: count))
        // Meanwhile others are served.
        for _ in 0..<100 { #expect(try await web.ask("GET", "/big.js", cookie).status == 200) }
        return (web, before, deaf)
    }

    @Test func `requests behind each other wait until the answer before is read`() async throws {
        let (web, _, deaf) = try await Self.holdRequests()
        for _ in 0..<200 { #expect(try await deaf.answer().body.count == 60_000) }
        // Bodies and chunks with further requests behind them.
        let token = "Authorization: Bearer \(try await web.token(of: "bob"))"
        let mixed = try web.connection()
        let chunks =
            web.request("POST", "/call", [token, "Transfer-Encoding: chunked"]) + "e\r\ncall?cmd=ping\n\r\n0\r\n\r\n"
        let one = web.request("POST", "/call", [token], body: "call?cmd=ping\n")
        mixed.send(String(repeating: chunks + one + web.request("GET", "/session"), count: 20))
        for _ in 0..<20 {
            #expect(try await mixed.answer().text == "{\"responseData\":null}\n")
            #expect(try await mixed.answer().text == "{\"responseData\":null}\n")
            #expect(try await mixed.answer().status == 401)
        }
    }

    @Test(.measured) func `a body of many calls costs little memory`() async throws {
        let web = try await WebProcess()
        let most = try await Self.sendManyCalls(web, "Authorization: Bearer \(web.token(of: "bob"))")
        #expect(most < 40 << 10, "KiB")
    }

    /// - Returns: the most memory that they took, in KiB.
    private static func sendManyCalls(_ web: WebProcess, _ token: String) async throws -> Int {
        let page = try await web.page(web.cookie(of: "ann"))
        let before = web.web.anonymousMemory
        let body = String(repeating: "call?cmd=ping\n", count: 140_000)
        let connections = try (0..<4).map { _ in try web.connection() }
        for connection in connections { connection.send(web.request("POST", "/call", [token], body: body)) }
        var most = 0
        for number in 0..<200 {
            #expect(try await page.ask("call?cmd=ping&id=\(number)")?.contains("id=\(number)") == true)
            most = max(most, web.web.anonymousMemory - before)
        }
        for connection in connections { #expect([413, 503].contains(try await connection.answer().status)) }
        return most
    }

    @Test func `a body of many calls costs its neighbour nothing`() async throws {
        let web = try await WebProcess()
        let token = "Authorization: Bearer \(try await web.token(of: "bob"))"
        _ = try await Self.sendManyCalls(web, token)
        // Long calls pass as they are.
        let long = #"{"handlerName":"logMessage","data":["\#(String(repeating: "y", count: 500_000))"]}"#
        let answer = try await web.ask("POST", "/call", [token], body: long + "\ncall?cmd=innerProgress&msg=%5B%0A2%5D")
        #expect(answer.text.hasPrefix("{\"responseData\":null}\n{\"responseData\":2}"), "\(answer)")
    }

    @Test
    func
        `a line that the daemon does not take is told to its caller, and a longer one is taken where the settings say so`()
        async throws
    {
        let short = try await WebProcess(.init(settings: "limits: {lineBytes: 65536}"))
        let token = "Authorization: Bearer \(try await short.token(of: "bob"))"
        let text = String(repeating: "y", count: 70_000)
        for line in [#"{"handlerName":"logMessage","data":["\#(text)"]}"#, "call?cmd=logMessage&msg=\(text)"] {
            let answer = try await short.ask("POST", "/call", [token], body: line)
            #expect(answer.text.hasPrefix(#"{"error":{"code":"tooLarge""#), "\(answer)")
        }
        let page = try await short.page(try await short.cookie(of: "ann"))
        let told = try await page.ask(#"{"handlerName":"logMessage","data":["\#(text)"],"callbackId":"7"}"#)
        #expect(told?.hasPrefix(#"{"responseId":"7","error":{"code":"tooLarge""#) == true)
        #expect(try await page.ask("call?cmd=ping&id=1")?.contains("id=1") == true)

        let long = try await WebProcess(.init(settings: "limits: {lineBytes: 8388608}"))
        let other = "Authorization: Bearer \(try await long.token(of: "bob"))"
        let large = #"{"handlerName":"logMessage","data":["\#(String(repeating: text, count: 80))"]}"#
        #expect(try await long.ask("POST", "/call", [other], body: large).status == 200)
    }

    @Test func `one address does not close the gateway to others, nor to a user behind it`() async throws {
        let web = try await WebProcess(.init(web: "connections: 200"))
        let cookie = try await web.cookie(of: "ann")
        let token = "Authorization: Bearer \(try await web.token(of: "bob"))"
        let page = try await web.page(cookie)
        // None of these is idle: half a body has come. Whoever is on this device may have many addresses.
        let half = web.request("POST", "/login", ["Content-Length: 100"]) + "x"
        var busy: [WebConnection] = []
        for number in 0..<300 {
            busy.append(try web.connection(from: "127.0.0.\(1 + number % 250)"))
            busy.last?.send(half)
            await busy.last?.flush()
            guard number % 10 == 0 else { continue }
            // Those behind the same address, logged in or not, get in all the time: the oldest stranger makes room.
            #expect(try await web.ask("GET", "/login.html").status == 200)
            #expect(try await web.ask("GET", "/session", ["Cookie: \(cookie)"]).status == 200)
        }
        for connection in busy.prefix(200) { try await connection.end() }
        #expect(try await web.ask("GET", "/session", ["Cookie: \(cookie)"]).status == 200)
        #expect(try await web.ask("POST", "/call?cmd=ping", [token]).status == 200)
        let another = try await web.cookie(of: "carl")
        #expect(try await web.ask("GET", "/session", ["Cookie: \(another)"]).status == 200)
        #expect(try await page.ask("call?cmd=ping&id=1")?.contains("id=1") == true)
        #expect(try await web.ask("GET", "/login.html", from: "127.0.0.2").status == 200)
        withExtendedLifetime(busy) {}
        // A user at the share loses the oldest idle ones.
        var kept: [WebConnection] = []
        for _ in 0..<60 {
            let connection = try web.connection(from: "127.0.0.3")
            kept.append(connection)
            connection.send(web.request("POST", "/call?cmd=ping", [token]))
            #expect(try await connection.answer().status == 200)
        }
        for connection in kept.prefix(10) { try await connection.end() }
        kept[59].send(web.request("POST", "/call?cmd=ping", [token]))
        #expect(try await kept[59].answer().status == 200)
        let state = try await web.connect().value("web", ["state"]).objectValue
        #expect(state?["connectionLimit"] == 200 && state?["problems"] == [] && state?["byteLimit"] == 33_554_432)
        let peers = (state?["peers"]?.arrayValue ?? []).compactMap { $0.objectValue?["peer"]?.stringValue }
        #expect(peers.contains("web:bob") && peers.contains("127.0.0.1") && peers.contains("web:ann"))
    }

    /// Where three hundred come within the ten seconds that a head may take.
    @Test(.measured, arguments: [false, true])
    func `heads that are held count for their peer`(isComplete: Bool) async throws {
        let web = try await WebProcess()
        let cookie = ["Cookie: \(try await web.cookie(of: "ann"))"]
        let page = try await web.page(web.cookie(of: "bob"))
        // 31 KiB, of which 270 are the share.
        let fillers = (0..<15).map { "X\($0): " + String(repeating: "x", count: 2100) }
        let head = web.request("POST", "/login", fillers + ["Content-Length: 100"])
        var held: [WebConnection] = []
        for _ in 0..<300 {
            held.append(try web.connection())
            held.last?.send(isComplete ? head : String(head.dropLast(2)))
            await held.last?.flush()
        }
        // On a busy machine they are not read in the order in which they came, so any of them may have been refused.
        let control = try web.connect()
        func bytes() async throws -> Int64 {
            try await control.value("web", ["state"]).objectValue?["bytes"]?.integerValue ?? 0
        }
        try await eventually("their share is used up") { try await bytes() >= 8 << 20 }
        let newcomer = try web.connection()
        newcomer.send(isComplete ? head : String(head.dropLast(2)))
        let answer = try await newcomer.answer()
        #expect(answer.status == 503 && answer["connection"] == "close" && answer.text.contains("too much under way"))
        #expect(try await bytes() <= 12 << 20)
        #expect(try await web.ask("GET", "/session", cookie).status == 200)
        #expect(try await page.ask("call?cmd=ping&id=1")?.contains("id=1") == true)
        // A head that comes in two pieces.
        let slow = try web.connection()
        let request = web.request("GET", "/session", cookie)
        slow.send(String(request.prefix(30)))
        await slow.flush()
        #expect(try await page.ask("call?cmd=ping&id=2")?.contains("id=2") == true)
        slow.send(String(request.dropFirst(30)))
        #expect(try await slow.answer().status == 200)
        held = []
        try await eventually("all is given back") { try await bytes() < 1 << 20 }
    }

    @Test func `the longest body is served, again and again`() async throws {
        let web = try await WebProcess()
        let token = ["Authorization: Bearer \(try await web.token(of: "ann"))"]
        let connection = try web.connection()
        let text = String(repeating: "y", count: (4 << 20) - 200)
        let body = #"{"handlerName":"logMessage","data":["\#(text)"]}"#
        for _ in 0..<2 {
            connection.send(web.request("POST", "/call", token, body: body))
            let answer = try await connection.answer()
            #expect(answer.status == 200 && answer.text == "{\"responseData\":null}\n", "\(answer)")
        }
    }

    @Test func `sessions that cannot be written are written later`() async throws {
        let web = try await WebProcess()
        let token = try await web.token(of: "ann")
        let file = web.folder("state/sessions.json")
        // A write may still be under way.
        try await eventually("a folder is where the file should be") {
            try? FileManager.default.removeItem(atPath: file)
            return (try? FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)) != nil
        }
        #expect(try await !web.logIn(["token": .string(token)]).isEmpty)
        try await eventually("it is told") { web.web.errors.contains("sessions cannot be kept") }
        let state = try await web.connect().value("web", ["state"]).objectValue
        #expect(state?["problems"] == ["sessions cannot be kept; the log says why"])
        try FileManager.default.removeItem(atPath: file)
        try await eventually("they are on the disk") {
            guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return false }
            return try JSONParser.parse(text).arrayValue?.count == 1
        }
        try await eventually("it is told no more") {
            try await web.connect().value("web", ["state"]).objectValue?["problems"] == []
        }
    }

    @Test func `who is added or removed while the disk takes nothing keeps token and log-ins, and both are told`()
        async throws
    {
        let web = try await WebProcess()
        let token = try await web.token(of: "ann")
        let cookie = try await web.logIn(["token": .string(token)])
        let file = web.folder("state/users.json")
        // A folder cannot be replaced by a file.
        let kept = try Data(contentsOf: URL(fileURLWithPath: file))
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        let client = try web.connect()
        for call in [["add", "ann"], ["add", "bob"], ["remove", "ann"]] as [JSONValue] {
            client.send("call?cmd=web&msg=\(call.text)&id=1")
            let reply = try #require(try await client.nextReply())
            #expect(reply.code == "unavailable" && reply.message.contains("it cannot be kept"), "\(reply.value.text)")
        }
        #expect(try await web.ask("GET", "/session", ["Cookie: \(cookie)"]).status == 200)
        #expect(try await !web.logIn(["token": .string(token)]).isEmpty)
        #expect(try await client.value("web", ["list"]).arrayValue?.count == 1)
        try FileManager.default.removeItem(atPath: file)
        try kept.write(to: URL(fileURLWithPath: file))
        // At once: each is added to what those before have left.
        for number in 0..<20 { client.send("call?cmd=web&msg=[\"add\",\"user\(number)\"]&id=\(number)") }
        for _ in 0..<20 { #expect(try await client.nextReply()?.code == nil) }
        #expect(try await client.value("web", ["list"]).arrayValue?.count == 21)
        #expect(try await client.value("web", ["remove", "ann"]) == .null)
        #expect(try await web.ask("GET", "/session", ["Cookie: \(cookie)"]).status == 401)
        let users = try JSONParser.parse(String(contentsOfFile: file, encoding: .utf8))
        #expect(users.text.contains("user19") && !users.text.contains("ann"))
    }

    @Test func `log-ins that are ended while users change take no change back, and a new token is told in any case`()
        async throws
    {
        let web = try await WebProcess()
        _ = try await web.token(of: "ann")
        let client = try web.connect()
        for number in 0..<20 {
            client.send("call?cmd=web&msg=[\"add\",\"user\(number)\"]&id=\(number)")
            client.send("call?cmd=web&msg=[\"end\"]&id=\(100 + number)")
        }
        client.send("call?cmd=web&msg=[\"remove\",\"ann\"]&id=40")
        client.send("call?cmd=web&msg=[\"end\"]&id=140")
        for _ in 0..<42 { #expect(try await client.nextReply()?.code == nil) }
        let users = try String(contentsOfFile: web.folder("state/users.json"), encoding: .utf8)
        #expect(users.contains("user19") && !users.contains("ann"))
        // A folder cannot be replaced by a file.
        let file = web.folder("state/sessions.json")
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        #expect(try await !web.logIn(["token": .string(web.token(of: "user1"))]).isEmpty)
    }

    @Test(.measured) func `pings of a page that does not read cost little memory`() async throws {
        let cost = try await Self.pings()
        #expect(cost < 4 << 10, "KiB")
    }

    @Test func `pings of a page that does not read leave others their answers`() async throws {
        _ = try await Self.pings()
    }

    /// Only the newest of them wait.
    /// - Returns: the memory that they took, in KiB.
    private static func pings() async throws -> Int {
        let web = try await WebProcess()
        let cookie = try await web.cookie(of: "ann")
        let other = try await web.page(web.cookie(of: "bob"))
        let deaf = try await web.page(cookie)
        let before = web.web.anonymousMemory
        let rest = [UInt8](repeating: 65, count: 100)
        let pings = (0..<2000).flatMap { WebConnection.frame(9, Array("ping \($0)".utf8) + rest) }
        for _ in 0..<100 { deaf.send(pings) }
        for number in 0..<100 {
            #expect(try await other.ask("call?cmd=ping&id=\(number)")?.contains("id=\(number)") == true)
        }
        defer { deaf.close() }
        return web.web.anonymousMemory - before
    }

    @Test func `a user's log-ins end sessions of nobody else, and are kept once a second`() async throws {
        let web = try await WebProcess()
        let ann = try await web.cookie(of: "ann")
        let token = try await web.token(of: "bob")
        let first = try await web.logIn(["token": .string(token)])
        let page = try await web.page(first)
        let connection = try web.connection()
        let login = web.request("POST", "/login", ["Content-Type: application/json"], body: #"{"token":"\#(token)"}"#)
        connection.send(String(repeating: login, count: 250))
        for _ in 0..<250 { #expect(try await connection.answer().status == 200) }
        #expect(try await web.ask("GET", "/session", ["Cookie: \(ann)"]).status == 200)
        #expect(try await web.ask("GET", "/session", ["Cookie: \(first)"]).status == 401)
        #expect(try await page.closeCode() == 1008)
        try await eventually("they are on the disk") {
            let sessions = try JSONParser.parse(String(decoding: web.folder.data("state/sessions.json"), as: UTF8.self))
            return sessions.arrayValue?.count == 251
        }
        // At the end at once.
        let last = try await web.logIn(["token": .string(token)])
        #expect(try await web.stopWeb() == .status(0))
        try await web.startWeb()
        let value = last.split(separator: "=")[1]
        #expect(try await web.ask("GET", "/session", ["Cookie: qc-\(web.port)=\(value)"]).status == 200)
    }

    @Test func `damaged sessions are told and kept aside`() async throws {
        let web = try await WebProcess()
        _ = try await web.cookie(of: "ann")
        #expect(try await web.stopWeb() == .status(0))
        try web.folder.write("[{\"half", to: "state/sessions.json")
        try await web.startWeb()
        #expect(web.web.errors.contains("sessions.json was damaged: everybody has to log in again"))
        #expect(String(decoding: try web.folder.data("state/sessions.json.damaged"), as: UTF8.self) == "[{\"half")
        let (exit, output) = try await ChildProcess.run(
            Products.path("quickconnect"),
            ["web", "state", "--socket", web.socket]
        )
        #expect(exit == .status(0) && output.contains("problem") && output.contains("sessions.json.damaged"))
    }

    @Test func `an address of web open leads to a page of this gateway only`() async throws {
        let web = try await WebProcess()
        try FileManager.default.createDirectory(atPath: web.folder("pages/a b"), withIntermediateDirectories: true)
        for page in ["a b/index.html", "state.html"] { try web.folder.write("", to: "pages/\(page)") }
        func tool(_ words: String...) async throws -> (exit: ChildProcess.Exit, output: String) {
            try await ChildProcess.run(
                Products.path("quickconnect"),
                ["web", "open"] + words + ["--socket", web.socket]
            )
        }
        for (page, query) in [
            ("state.html", "./state.html"), ("a b/?c=1&d#e", "./a%20b/?c%3D1%26d%23e"),
            ("?x=http://e", "./?x%3Dhttp%3A//e"),
        ] {
            let encoded = query.replacing("/", with: "%2F").replacing("?", with: "%3F")
            let (exit, output) = try await tool(page)
            #expect(exit == .status(0) && output.contains("/login.html?next=\(encoded)#code="), "\(output)")
            #expect(try await tool(page, "--json").output.contains("login.html?next=\(encoded)#code="))
            let code = output.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: "=").last ?? ""
            #expect(try await !web.logIn(["code": .string(String(code))]).isEmpty)
        }
        #expect(try await tool().output.contains("/login.html#code="))
        for page in [
            "/state.html", "//evil.test", "http://evil.test", "javascript:x", "..", "a/../../b", "\\\\evil.test", "",
            "a\tb",
        ] {
            let child = try ChildProcess(Products.path("quickconnect"), ["web", "open", page, "--socket", web.socket])
            #expect(try await child.wait() == .status(2), "\(page)")
            let told = String(decoding: child.standardError, as: UTF8.self)
            #expect(told.hasPrefix("quickconnect: expected a page of this device"), "\(told)")
        }
    }

    @Test func `web open of a page that is not there names those that are`() async throws {
        let web = try await WebProcess()
        try FileManager.default.createDirectory(atPath: web.folder("pages/sub"), withIntermediateDirectories: true)
        for page in ["bell.html", "bell.js", ".x.html", "sub/index.html"] {
            try web.folder.write("", to: "pages/\(page)")
        }
        let client = try web.connect()
        for page in ["bell.html?a#b", "./bell.html", "sub", "sub/", "bell.js", "media/take.wav", "?to=1"] {
            #expect(try await client.value("web", ["open", .string(page)]).objectValue?["address"] != nil, "\(page)")
        }
        for (page, says) in [
            ("bel.html", "there is no page 'bel.html', did you mean 'bell.html'?"), ("Sources.swift", "bell.html, "),
            (".x.html", "bell.html, "), ("sub/other.html", "; there are "), ("%zz", "bell.html, "),
        ] {
            let told = try await client.failure("web", ["open", .string(page)])
            #expect(told["code"] == "notFound" && told["message"]?.stringValue?.contains(says) == true, "\(told)")
            #expect(told["message"]?.stringValue?.contains(".x.html, ") == false, "\(told)")
        }
    }

    @Test func `one name is one person, and its end ends everything`() async throws {
        let web = try await WebProcess()
        let name = String(cString: getpwuid(geteuid()).pointee.pw_name)
        func tool(_ words: String...) async throws -> (ChildProcess.Exit, String) {
            try await ChildProcess.run(Products.path("quickconnect"), words + ["--socket", web.socket])
        }
        func link() async throws -> String {
            let address = try await tool("web", "open").1.trimmingCharacters(in: .whitespacesAndNewlines)
            return try await web.logIn(["code": .string(String(address.split(separator: "=").last ?? ""))])
        }
        let linked = try await link()
        let page = try await web.page(linked)
        #expect(try await tool("web", "user", "remove", name).0 == .status(0))
        #expect(try await page.closeCode() == 1008)
        #expect(try await web.ask("GET", "/session", ["Cookie: \(linked)"]).status == 401)
        #expect(try await tool("web", "user", "remove", name).0 == .status(1), "there is nothing left")
        let nobody = try ChildProcess(
            Products.path("quickconnect"),
            ["web", "user", "link", "nobody", "--socket", web.socket]
        )
        #expect(try await nobody.wait() == .status(1))
        #expect(nobody.errors.contains("«quickconnect web user list»"), "\(nobody.errors)")

        // A user with a token is somebody else than the user of the device.
        let before = try await link()
        let unused = try await tool("web", "open").1.trimmingCharacters(in: .whitespacesAndNewlines)
        let token = try await web.token(of: name, groups: ["ops"])
        #expect(try await web.ask("GET", "/session", ["Cookie: \(before)"]).status == 401)
        #expect(try await web.logIn(["code": .string(String(unused.split(separator: "=").last ?? ""))]).isEmpty)
        let refused = JSONValue.object(try await web.connect().failure("web", ["open"])).text
        #expect(refused.contains("denied") && refused.contains("is a user with a token"))

        let cookie = try await web.logIn(["token": .string(token)])
        let ann = try await web.page(web.cookie(of: "ann"))
        let own = try await web.page(cookie)
        let (program, _) = try await web.handshake(["Authorization: Bearer \(token)"])
        let (exit, output) = try await tool("web", "sessions", "end", name)
        #expect(exit == .status(0) && output == "1 session ended.\n")
        for connection in [own, program] { #expect(try await connection.closeCode() == 1008) }
        #expect(try await ann.ask("call?cmd=ping&id=1")?.contains("id=1") == true)
        #expect(try await web.ask("POST", "/call?cmd=ping", ["Authorization: Bearer \(token)"]).status == 200)
        #expect(try await tool("web", "sessions").1.contains("web:ann"))
        #expect(try await tool("web", "sessions", "end").0 == .status(0))
        #expect(try await ann.closeCode() == 1008)
        #expect(try await tool("web", "sessions").1.contains("Nobody is logged in."))
    }
}
