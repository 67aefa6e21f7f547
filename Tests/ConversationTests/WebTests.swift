import Foundation
import JSON
import TestRig
import Testing

/// What pages, people and programs do with the gateway.
@Suite("The gateway of pages")
struct WebTests {
    @Test func `calls, events and handlers of a page, in both forms`() async throws {
        let web = try await WebProcess()
        let page = try await web.page(web.cookie(of: "ann"))
        #expect(try await page.ask("call?cmd=ping&id=1") == "handleJSONRequest?cmd=ping&msg=null&id=1")
        #expect(
            try await page.ask(#"{"handlerName":"ping","callbackId":"cb"}"#)?.contains(#""responseId":"cb""#) == true
        )
        let other = try await web.page(web.cookie(of: "bob"))
        #expect(try await other.ask("call?cmd=subscribe&msg=innerProgress&id=2")?.contains("id=2") == true)
        #expect(try await page.ask("call?cmd=innerProgress&msg=7&id=3")?.contains("msg=7&id=3") == true)
        #expect(try await other.line() == "handleJSONRequest?cmd=innerProgress&msg=7")
        // A long line, and one that is too long, as over the daemon's own socket.
        let long = String(repeating: "x", count: 1_000_000)
        #expect(try await page.ask("call?cmd=logMessage&msg=\(long)&id=4")?.hasSuffix("id=4") == true)
        let tooLong = "call?cmd=logMessage&id=5&msg=" + String(repeating: "x", count: (4 << 20) - 28)
        #expect(tooLong.utf8.count == (4 << 20) + 1)
        #expect(try await page.ask(tooLong)?.contains("tooLarge") == true)
        page.send(WebConnection.frame(9, [1, 2]))
        #expect(try #require(try await page.frame()) == (10, [1, 2]))
        page.send(WebConnection.frame(8, [3, 232]))
        #expect(try await page.closeCode() == 1000)
        try await page.end()
    }

    @Test func `a code lets one browser in, once`() async throws {
        let web = try await WebProcess()
        let (exit, output) = try await ChildProcess.run(
            Products.path("quickconnect"),
            ["web", "open", "--socket", web.socket]
        )
        let address = output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(exit == .status(0) && address.hasPrefix("\(web.origin)/login.html#code="))
        let code = JSONValue.string(String(address.split(separator: "=").last ?? ""))
        let cookie = try await web.logIn(["code": code])
        let me = try await web.ask("GET", "/session", ["Cookie: \(cookie)"]).json.objectValue
        #expect(me?["user"]?.stringValue == String(cString: getpwuid(geteuid()).pointee.pw_name))
        #expect(me?["groups"] == [] && me?["gateway"] == "web")
        #expect(try await web.logIn(["code": code]).isEmpty)
        #expect(try await web.page(cookie).ask("call?cmd=reload&id=1")?.contains("denied") == true, "never root")
    }

    @Test func `without a session there is the log-in page and nothing else`() async throws {
        let web = try await WebProcess()
        try web.folder.write("in", to: "pages/login.html")
        #expect(try await web.ask("GET", "/login.html").status == 200)
        for target in ["/", "/index.html", "/quickconnect.js", "/none", "/lib/leaflet/leaflet.js", "/session"] {
            #expect(try await web.ask("GET", target).status == 401, "\(target)")
        }
        let person = ["Accept: text/html,application/xhtml+xml"]
        #expect(try await web.ask("GET", "/", person)["location"] == "login.html")
        let deep = try await web.ask("GET", "/a/b%20c.html?d", person)
        #expect(deep.status == 303 && deep["location"] == "../login.html?next=.%2Fa%2Fb%20c.html")
        let message = try await web.ask("GET", "/").json.objectValue?["message"]?.stringValue ?? ""
        for line in ["«quickconnect web user link NAME»", "«quickconnect web user add NAME --group home»"] {
            #expect(message.contains(line), "\(message)")
        }
    }

    @Test func `a page that calls by HTTP is told what it calls by`() async throws {
        let web = try await WebProcess()
        let cookie = "Cookie: \(try await web.cookie(of: "ann"))"
        for (method, status) in [("POST", 401), ("GET", 405)] {
            for headers in [[], [cookie]] {
                let answer = try await web.ask(method, "/call?cmd=ping", headers)
                let message = answer.json.objectValue?["message"]?.stringValue ?? ""
                #expect(answer.status == status && message.contains("makeCall"), "\(method): \(answer)")
                #expect(message.contains("web user add") && !message.contains("not logged in"), "\(message)")
            }
        }
        let upload = try await web.ask("PUT", "/media/a.wav", body: "x")
        #expect(upload.status == 403 && upload.text.contains("Authorization: Bearer TOKEN"), "\(upload)")
    }

    @Test func `pages have tags, types and no more than their folder`() async throws {
        let web = try await WebProcess()
        let cookie = ["Cookie: \(try await web.cookie(of: "ann"))"]
        try FileManager.default.createDirectory(atPath: web.folder("pages/sub"), withIntermediateDirectories: true)
        try web.folder.write("sub", to: "pages/sub/index.html")
        let big = String(repeating: "0123456789abcdef", count: 100_000)
        try web.folder.write(big, to: "pages/big.js")
        let page = try await web.ask("GET", "/", cookie)
        #expect(page.status == 200 && page.text.contains("hello") && page["content-type"] == "text/html; charset=utf-8")
        let tag = try #require(page["etag"])
        for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let unchanged = try await web.ask("GET", "/index.html", cookie + ["If-None-Match: \(known)"])
            #expect(unchanged.status == 304 && unchanged.body.isEmpty && unchanged["etag"] == tag)
        }
        try web.folder.write("other", to: "pages/index.html")
        #expect(try await web.ask("GET", "/", cookie + ["If-None-Match: \(tag)"]).text == "other")
        let head = try await web.ask("HEAD", "/big.js", cookie)
        #expect(head.status == 200 && head["content-length"] == "1600000" && head.body.isEmpty)
        #expect(try await web.ask("GET", "/big.js", cookie).text == big)
        #expect(try await web.ask("GET", "/sub", cookie)["location"] == "./sub/")
        #expect(try await web.ask("GET", "/sub/", cookie).text == "sub")
        for method in ["PUT", "DELETE", "POST", "OPTIONS", "TRACE"] {
            #expect(try await web.ask(method, "/", cookie).status == 405, "\(method)")
        }
        #expect(try await web.ask("GET", "/login", cookie)["allow"] == "POST")
        // Several on one connection, asked for at once.
        let connection = try web.connection()
        connection.send((0..<50).map { _ in web.request("GET", "/sub/", cookie) }.joined())
        for _ in 0..<50 { #expect(try await connection.answer().text == "sub") }
    }

    @Test(arguments: [1000, 400_000])
    func `a player gets the parts of a page's file that it asks for`(size: Int) async throws {
        let web = try await WebProcess()
        let cookie = ["Cookie: \(try await web.cookie(of: "ann"))"]
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        try Data(bytes).write(to: URL(fileURLWithPath: web.folder("pages/film.mp4")))
        func ask(_ range: String, _ others: [String] = []) async throws -> WebAnswer {
            try await web.ask("GET", "/film.mp4", cookie + ["Range: \(range)"] + others)
        }
        let whole = try await web.ask("GET", "/film.mp4", cookie)
        let tag = try #require(whole["etag"])
        #expect(whole.status == 200 && whole["accept-ranges"] == "bytes" && whole["content-type"] == "video/mp4")
        let parts: [(String, Range<Int>)] = [
            ("bytes=0-1", 0..<2), ("bytes=10-", 10..<size), ("bytes=-5", size - 5..<size),
            ("bytes=7-99999999", 7..<size),
        ]
        for (range, part) in parts {
            let answer = try await ask(range)
            #expect(answer.status == 206 && answer["content-length"] == "\(part.count)", "\(range)")
            #expect(answer["content-range"] == "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)")
            #expect(answer.body == Array(bytes[part]), "\(range)")
        }
        let behind = try await ask("bytes=\(size)-")
        #expect(behind.status == 416 && behind["content-range"] == "bytes */\(size)")
        for wrong in ["bytes=2-1", "bytes=0-1,5-6", "lines=0-1", "bytes=x-"] {
            let answer = try await ask(wrong)
            #expect(answer.status == 200 && answer.body.count == size, "\(wrong)")
        }
        #expect(try await ask("bytes=0-1", ["If-Range: \(tag)"]).status == 206)
        #expect(try await ask("bytes=0-1", ["If-Range: \"other\""]).status == 200)
        #expect(try await ask("bytes=0-1", ["If-None-Match: \(tag)"]).status == 304)
    }

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: "/usr/share/javascript/leaflet/leaflet.js"),
            "libjs-leaflet is not installed"
        )
    )
    func `Debian's libraries are there`() async throws {
        let web = try await WebProcess()
        let cookie = ["Cookie: \(try await web.cookie(of: "ann"))"]
        for path in ["leaflet/leaflet.js", "leaflet/images/marker-icon.png"] {
            #expect(try await web.ask("GET", "/lib/\(path)", cookie).status == 200, "\(path)")
        }
        #expect(try await web.ask("GET", "/lib/jquery/jquery.js", cookie).status == 404)
    }

    @Test func `a person who asks for what is not there gets a page, with a way back; a program an error`() async throws
    {
        let web = try await WebProcess()
        let cookie = "Cookie: \(try await web.cookie(of: "ann"))"
        for (path, root) in [
            ("/none.html", ""), ("/a/b/none", "../../"), ("/%3Cscript%3E.html", ""), ("/.hidden", ""),
            ("/a//b.html?x=/", "../../"), ("/a%00b", ""), ("/media/.a/", "../../"),
        ] {
            let page = try await web.ask("GET", path, [cookie, "Accept: text/html,*/*;q=0.8"])
            #expect(page.status == 404 && page["content-type"] == "text/html; charset=utf-8", "\(path)")
            #expect(
                page.text.contains(#"href="\#(root)./""#) && page.text.contains(#"href="\#(root)style.css""#),
                "\(page.text)"
            )
            #expect(!page.text.contains("script>"))
            let program = try await web.ask("GET", path, [cookie, "Accept: */*"])
            #expect(program.status == 404 && program.code == "notFound", "\(path)")
        }
    }

    @Test func `a user who is there already is replaced, and the answer says so`() async throws {
        let web = try await WebProcess()
        let client = try web.connect()
        let first = try await client.value("web", ["add", "ann", ["groups": ["staff", "home"]]])
        #expect(first.objectValue?.count == 1)
        let words = ["web", "user", "add", "ann", "--group", "home", "--socket", web.socket]
        let tool = try ChildProcess(Products.path("quickconnect"), words)
        #expect(try await tool.wait() == .status(0))
        let output = String(decoding: tool.standardError, as: UTF8.self)
        let told =
            "web:ann was a user already: the token of before and its log-ins have ended, and ann is no longer in staff"
        #expect(output == "quickconnect: \(told)\n")
        #expect(try await client.value("web", ["add", "ann"]).objectValue?["replaced"] == ["groups": ["home"]])
        let listed = ["web", "user", "add", "bob", "--group", "staff,screen", "--socket", web.socket]
        let comma = try ChildProcess(Products.path("quickconnect"), listed)
        #expect(try await comma.wait() == .status(0))
        let advice = "if several are meant, one --group for each: --group staff --group screen"
        #expect(
            String(decoding: comma.standardError, as: UTF8.self)
                == "quickconnect: 'staff,screen' is one group; \(advice)\n"
        )
        _ = try await client.value("web", ["add", "jos\u{E9}"])
        let twin = try await client.failure("web", ["add", "jose\u{301}"])
        #expect(twin["code"] == "invalid" && twin["message"]?.stringValue?.contains("other bytes") == true, "\(twin)")
    }

    @Test func `calls by HTTP`() async throws {
        let web = try await WebProcess()
        let token = ["Authorization: Bearer \(try await web.token(of: "ann"))"]
        func call(_ target: String, _ body: String? = nil) async throws -> WebAnswer {
            try await web.ask("POST", target, token, body: body)
        }
        let one = try await call("/call?cmd=ping")
        #expect(one.status == 200 && one.json == .null && one["content-type"] == "application/json")
        #expect(try await call("/call?cmd=innerProgress&msg=3").json == 3)
        #expect(try await call("/call?cmd=innerProgress&msg=%5B4%5D&id=x").json == 4)
        for (target, status, code) in [
            ("/call?cmd=pong", 403, "denied"), ("/call?cmd=reload", 403, "denied"),
            ("/call?cmd=innerProgress&msg=%22x%22", 422, "invalid"), ("/call?cmd=", 400, "badRequest"),
            ("/call?msg=1", 400, "badRequest"), ("/call?cmd=ping&cmd=ping", 400, "badRequest"),
            ("/call?cmd=%zz", 400, "badRequest"), ("/call", 400, "badRequest"), ("/call?cmd=never", 503, "unavailable"),
        ] {
            let answer = try await call(target)
            #expect(answer.status == status && answer.code == code, "\(target): \(answer)")
        }
        let lines = [
            "call?cmd=innerProgress&msg=5&id=same", #"{"handlerName":"innerProgress","callbackId":"same"}"#, "rubbish",
            "call?cmd=reload", "", "call?cmd=ping\r",
        ]
        let answer = try await call("/call", lines.joined(separator: "\n"))
        let values = answer.text.split(separator: "\n").map { try? JSONParser.parse(String($0)).objectValue }
        #expect(answer.status == 200 && values.count == 5)
        #expect(values[0]?["responseData"] == 5 && values[1]?["responseData"] == 5)
        #expect(values[2]?["error"]?.objectValue?["code"] == "badRequest")
        #expect(values[3]?["error"]?.objectValue?["code"] == "denied" && values[4]?["responseData"] == .null)
        // As many as a body may have, and one more.
        let ping = "call?cmd=ping\n"
        let many = try await call("/call", String(repeating: ping, count: 256))
        #expect(many.text == String(repeating: "{\"responseData\":null}\n", count: 256))
        let tooMany = try await call("/call", String(repeating: ping, count: 257))
        #expect(tooMany.status == 413 && tooMany.code == "tooLarge" && tooMany.text.contains("up to 256 calls"))
        #expect(try await call("/call", String(repeating: "x", count: (4 << 20) + 2)).status == 413)
        #expect(try await web.ask("POST", "/login", body: String(repeating: "x", count: 20_000)).status == 413)
        let expecting = try web.connection()
        expecting.send(web.request("POST", "/call", token + ["Expect: 100-continue", "Content-Length: 14"]))
        #expect(try await expecting.answer().status == 100)
        expecting.send("call?cmd=ping\n")
        #expect(try await expecting.answer().text == "{\"responseData\":null}\n")
    }

    /// HOST is the gateway's.
    @Test(arguments: [
        // RFC 9112 2.2, 3.2, 3.2.2; RFC 9110 5.5.
        ("GET /style.css HTTP/1.1\nHost: HOST \n", 200), ("GET /style.css HTTP/1.1\nhOST:\t HOST\t \t\n", 200),
        ("GET /style.css HTTP/1.1\nHost:HOST\n", 200), ("\nGET /style.css HTTP/1.1\nHost: HOST\n", 200),
        ("GET http://HOST/style.css HTTP/1.1\nHost: HOST\n", 200),
        ("GET HTTP://HOST/style.css?x HTTP/1.1\nHost: evil.test\n", 200),
        ("GET http://evil.test/style.css HTTP/1.1\nHost: HOST\n", 421),
        ("GET http://me@HOST/style.css HTTP/1.1\nHost: HOST\n", 400),
        ("GET http:///style.css HTTP/1.1\nHost: HOST\n", 400),
        ("GET http://HOST/style.css HTTP/1.1\n", 400), ("GET /style.css HTTP/1.1\n", 400),
        ("GET http://HOST HTTP/1.1\nHost: HOST\nAccept: text/html\n", 303),
        ("GET /style.css HTTP/1.0\nHost: HOST\n", 200), ("HEAD http://HOST/style.css HTTP/1.1\nHost: HOST\n", 200),
        ("OPTIONS * HTTP/1.1\nHost: HOST\n", 405), ("get /style.css HTTP/1.1\nHost: HOST\n", 400),
        ("GET /style.css HTTP/2.0\nHost: HOST\n", 505), ("GET  /style.css HTTP/1.1\nHost: HOST\n", 200),
        // RFC 9112 5.1, 5.2, 6.3; RFC 9110 5.6.2.
        ("GET /style.css HTTP/1.1\nHost : HOST\n", 400), ("GET /style.css HTTP/1.1\nHost: HOST\nX: a\n b\n", 400),
        ("GET /style.css HTTP/1.1\nHost: HOST\nX: a\0b\n", 400),
        ("GET /style.css HTTP/1.1\nHost: HOST\nX: a\rb\n", 400),
        ("GET /style.css HTTP/1.1\nHost: HOST\nX(: a\n", 400), ("GET /style.css HTTP/1.1\n Host: HOST\n", 400),
        ("GET /style.css HTTP/1.1\nHost: HOST\nContent-Length: 0\nContent-Length: 1\n", 400),
        ("GET /style.css HTTP/1.1\nHost: HOST\nContent-Length: +0\n", 400),
        ("GET /style.css HTTP/1.1\nHost: HOST\nContent-Length: 0 \n", 200),
        ("GET /style.css HTTP/1.1\nHost: HOST\nContent-Length: 3\nTransfer-Encoding: chunked\n", 400),
        ("POST /login HTTP/1.1\nHost: HOST\nTransfer-Encoding: gzip, chunked\n", 501),
        ("GET /style.css HTTP/1.1\nHost: HOST\nTransfer-Encoding: chunked, gzip\n", 400),
    ])
    func `heads are read as the RFCs write them`(head: String, status: Int) async throws {
        let web = try await WebProcess()
        let connection = try web.connection()
        let text = head.replacingOccurrences(of: "HOST", with: "127.0.0.1:\(web.port)") + "\n"
        connection.send(text.replacingOccurrences(of: "\n", with: "\r\n"))
        let answer = try await connection.answer(isHead: head.hasPrefix("HEAD"))
        #expect(answer.status == status, "\(answer.text)")
        // What has got an answer, or a refusal, keeps nobody else from one.
        #expect(try await web.ask("GET", "/style.css").status == 200)
    }

    @Test func `spaces around a token, a whole address and an expectation in capitals, with a body`() async throws {
        let web = try await WebProcess()
        let token = try await web.token(of: "ann")
        let connection = try web.connection()
        let host = "127.0.0.1:\(web.port)"
        let head = [
            "Host: \(host)\t", "Authorization:  Bearer \(token) ", "Content-Length: 14 ", "Expect: 100-Continue ",
        ]
        connection.send((["POST http://\(host)/call HTTP/1.1"] + head).joined(separator: "\r\n") + "\r\n\r\n")
        #expect(try await connection.answer(isHead: true).status == 100)
        connection.send("call?cmd=ping\n")
        let answer = try await connection.answer()
        #expect(answer.status == 200 && answer.text == "{\"responseData\":null}\n", "\(answer.text)")
    }

    @Test func `who hangs up cancels the call that waits`() async throws {
        let web = try await WebProcess()
        let silent = try web.connect()
        _ = try await silent.value("registerHandler", ["silent", ["cancel": true]])
        let token = ["Authorization: Bearer \(try await web.token(of: "ann"))"]
        let connection = try web.connection()
        connection.send(web.request("POST", "/call?cmd=never", token))
        #expect(try await silent.next()?.contains(#""user":"ann""#) == true)
        connection.close()
        #expect(try await silent.next()?.contains("cancel") == true)
    }

    @Test func `calls of a user that is removed end`() async throws {
        let web = try await WebProcess()
        let silent = try web.connect()
        _ = try await silent.value("registerHandler", ["silent", ["cancel": true]])
        var token = try await web.token(of: "ann")
        let connection = try web.connection()
        for verb in ["add", "remove"] {
            connection.send(web.request("POST", "/call?cmd=never", ["Authorization: Bearer \(token)"]))
            #expect(try await silent.next()?.contains(#""user":"ann""#) == true)
            let answer = try await web.connect().value("web", [.string(verb), "ann"])
            #expect(try await connection.answer().status == 401)
            #expect(try await silent.next()?.contains("cancel") == true)
            token = answer.objectValue?["token"]?.stringValue ?? ""
        }
    }

    @Test func `the daemon goes and comes back`() async throws {
        let web = try await WebProcess()
        let cookie = try await web.cookie(of: "ann")
        let token = ["Authorization: Bearer \(try await web.token(of: "bob"))"]
        let page = try await web.page(cookie)
        let kept = try web.connection()
        kept.send(web.request("POST", "/call?cmd=ping", token))
        #expect(try await kept.answer().status == 200)
        try await web.killDaemon()
        #expect(try await page.closeCode() == 1013)
        let (_, answer) = try await web.handshake(["Origin: \(web.origin)", "Cookie: \(cookie)"])
        #expect(answer.status == 503 && answer["retry-after"] == "1" && answer.code == "unavailable")
        #expect(answer.text.contains("the daemon does not answer (Connection refused); it may be starting"))
        kept.send(web.request("POST", "/call?cmd=ping", token))
        #expect(try await kept.answer().status == 503)
        try FileManager.default.removeItem(atPath: web.folder("web.sock"))
        let missing = try await web.ask("POST", "/call?cmd=ping", token)
        #expect(missing.status == 503 && missing.text.contains("there is no socket \(web.folder("web.sock"))"))
        #expect(try await web.ask("GET", "/session", ["Cookie: \(cookie)"]).status == 200)
        try await web.startDaemon()
        #expect(try await web.page(cookie).ask("call?cmd=ping&id=1")?.contains("id=1") == true)
        kept.send(web.request("POST", "/call?cmd=ping", token))
        #expect(try await kept.answer().status == 200)
        try await web.awaitControl()
    }

    @Test func `the gateway goes and comes back, and says goodbye`() async throws {
        let web = try await WebProcess()
        let cookie = try await web.cookie(of: "ann")
        let page = try await web.page(cookie)
        async let code = page.closeCode()
        web.web.send(SIGTERM)
        #expect(try await code == 1001)
        page.send(WebConnection.frame(8, [3, 233]))
        #expect(try await web.web.wait() == .status(0))
        for file in ["users.json", "sessions.json"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: web.folder("state/\(file)"))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(
                !String(decoding: try web.folder.data("state/\(file)"), as: UTF8.self).contains(cookie.dropFirst(8))
            )
        }
        try await web.startWeb()
        // The port is another one, and so is the cookie's name.
        let value = cookie.split(separator: "=")[1]
        let session = ["Cookie: qc-\(web.port)=\(value)"]
        #expect(try await web.ask("GET", "/session", session).status == 200)
        #expect(try await web.stopWeb() == .status(0))
        try web.folder.write("[{]", to: "state/users.json")
        await #expect(throws: NotInTime.self) { try await web.startWeb() }
        #expect(web.web.errors.contains("users.json is not JSON") && web.web.poll() == .status(1))
    }

    @Test(.measured) func `the gateway ends as soon as the page has said goodbye, too`() async throws {
        let web = try await WebProcess()
        let page = try await web.page(web.cookie(of: "ann"))
        web.web.send(SIGTERM)
        #expect(try await page.closeCode() == 1001)
        page.send(WebConnection.frame(8, [3, 233]))
        let said = ContinuousClock.now
        #expect(try await web.web.wait() == .status(0))
        #expect(ContinuousClock.now - said < .seconds(4))
    }

    @Test func `who is logged out or removed is out at once`() async throws {
        let web = try await WebProcess()
        let cookie = try await web.cookie(of: "ann")
        let pages = [try await web.page(cookie), try await web.page(cookie)]
        let out = try await web.ask("POST", "/logout", ["Cookie: \(cookie)", "Origin: \(web.origin)"])
        #expect(out.status == 204 && out["set-cookie"]?.contains("Max-Age=0") == true)
        for page in pages { #expect(try await page.closeCode() == 1008) }
        #expect(try await web.ask("GET", "/session", ["Cookie: \(cookie)"]).status == 401)

        let token = try await web.token(of: "bob")
        let bob = try await web.logIn(["token": .string(token)])
        let (program, answer) = try await web.handshake(["Authorization: Bearer \(token)"])
        #expect(answer.status == 101)
        let page = try await web.page(bob)
        _ = try await web.connect().value("web", ["remove", "bob"])
        #expect(try await page.closeCode() == 1008)
        #expect(try await program.closeCode() == 1008)
        #expect(try await web.ask("GET", "/session", ["Cookie: \(bob)"]).status == 401)
        #expect(try await web.ask("POST", "/call?cmd=ping", ["Authorization: Bearer \(token)"]).status == 401)
    }

    @Test func `who is logged out while a page is being opened gets none`() async throws {
        let web = try await WebProcess()
        let cookie = try await web.cookie(of: "ann")
        let headers = ["Origin: \(web.origin)", "Cookie: \(cookie)"]
        // Its body would come when it likes.
        let bodied = try web.connection()
        bodied.send(web.request("GET", "/bridge", WebProcess.upgrade + headers + ["Content-Length: 1"]))
        let refused = try await bodied.answer()
        #expect(refused.status == 400 && refused["connection"] == "close")
        // The daemon takes its time.
        web.daemon.send(SIGSTOP)
        let late = try (0..<3).map { _ in try web.connection() }
        for connection in late {
            connection.send(web.request("GET", "/bridge", WebProcess.upgrade + headers))
            await connection.flush()
        }
        #expect(try await web.ask("GET", "/session", headers).status == 200)
        #expect(try await web.ask("POST", "/logout", headers).status == 204)
        web.daemon.send(SIGCONT)
        for connection in late { #expect(try await connection.answer().status == 401) }
    }

    @Test func `more pages than a quarter of what the daemon takes are told so`() async throws {
        let web = try await WebProcess(.init(connections: 8))
        let cookie = try await web.cookie(of: "ann")
        let pages = [try await web.page(cookie), try await web.page(cookie)]
        let (_, answer) = try await web.handshake(["Origin: \(web.origin)", "Cookie: \(cookie)"])
        #expect(answer.status == 503 && answer.code == "overloaded" && answer.text.contains("a quarter of the 8"))
        let other = try await web.page(web.cookie(of: "bob"))
        #expect(try await other.ask("call?cmd=ping&id=1")?.contains("id=1") == true)
        pages[0].close()
        try await eventually("there is room") {
            try await web.handshake(["Origin: \(web.origin)", "Cookie: \(cookie)"]).1.status == 101
        }
    }

    @Test func `of eight calls of one user at once none fails for another`() async throws {
        let mapping = "people: {value: {type: integer, default: 0}, allow: {users: [\"web:ann\"]}}\n"
        // A user gets two connections to the daemon.
        let web = try await WebProcess(.init(mappings: mapping, connections: 8))
        let bearer = "Authorization: Bearer \(try await web.token(of: "ann"))"
        let connections = try (0..<8).map { _ in try web.connection() }
        let call = web.request(
            "POST",
            "/call?cmd=people&msg=%5Bnull%2C%7B%22add%22%3A1%7D%5D",
            [bearer, "Connection: close"]
        )
        for connection in connections { connection.send(call) }
        var counts: Set<Int64> = []
        for connection in connections {
            let answer = try await connection.answer()
            #expect(answer.status == 200, "\(answer)")
            counts.insert(answer.json.integerValue ?? 0)
        }
        #expect(counts == Set(1...8))
    }

    @Test func `pages are told when their files change`() async throws {
        let web = try await WebProcess(.init(flags: ["--watch"]))
        let cookie = try await web.cookie(of: "ann")
        let session = try await web.ask("GET", "/session", ["Cookie: \(cookie)"]).text
        #expect(session.contains(#""watch":true,"refusals":true"#), "\(session)")
        let page = try await web.page(cookie)
        // The watch begins some time after the start.
        let writing = Task {
            while !Task.isCancelled {
                try web.folder.write("new", to: "pages/new.js")
                // Sleeps between changes.
                try await Task.sleep(for: .milliseconds(300))
            }
        }
        #expect(try await page.line() == #"{"handlerName":"pagesChanged","data":null}"#)
        writing.cancel()
    }

    @Test func `systemd hands it a socket`() async throws {
        let script = """
            import os, socket, sys
            made = socket.socket()
            made.bind(("127.0.0.1", 0))
            made.listen()
            os.dup2(made.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="http")
            os.execv(sys.argv[1], sys.argv[1:])
            """
        let folder = try TestFolder()
        let notify = try NotifySocket()
        let child = try ChildProcess(
            "python3",
            [
                "-c", script, Products.path("quickconnect-web"), "--socket", folder("none"), "--bridge-socket",
                folder("none"), "--state", folder("state"),
            ],
            environment: ["PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": folder("home"), "NOTIFY_SOCKET": notify.path]
        )
        try await eventually("it listens") { child.errors.contains("listening on http://127.0.0.1:") }
        let port = UInt16(child.errors.split(separator: "127.0.0.1:").last?.prefix(while: \.isNumber) ?? "") ?? 0
        let connection = try WebConnection(port)
        connection.send("GET /session HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n")
        #expect(try await connection.answer().status == 401)
        var told = ""
        try await eventually("systemd is told") {
            told += notify.messages().joined()
            return told.contains("READY=1")
        }
        try await eventually("it says that there is no daemon") {
            child.errors.contains("no daemon lets this gateway in at \(folder("none"))")
        }
        child.send(SIGTERM)
        #expect(try await child.wait() == .status(0))
    }

    @Test(arguments: [
        ("web: {names: [\"*\"]}", "'*' is not a name of this host"), ("web: {names: [\".\"]}", "'.' is not a name"),
        ("web: {names: [\"a:1\"]}", "'a:1' is not a name"),
        ("web: {listen: here}", "'here' is not ADDRESS:PORT"), ("web: {lisen: x}", "did you mean 'listen'"),
        ("web: {tiles: \"https://x/\"}", "{z}, {x} and {y}"), ("web: {session: long}", "a number and a unit"),
        ("web: {address: kiosk}", "http:// or https://"), ("web: {connections: 0}", "from 1 to"),
    ])
    func `mistakes in the settings are told, and nothing starts`(settings: String, words: String) async throws {
        let folder = try TestFolder()
        try folder.write(settings, to: "settings.yaml")
        for program in ["quickconnect-web", "quickconnectd"] {
            let check = program == "quickconnectd" ? ["--check"] : ["--state", folder("state")]
            let child = try ChildProcess(Products.path(program), ["--config", folder("settings.yaml")] + check)
            #expect(try await child.wait() == .status(2))
            #expect(child.errors.contains(words) && child.errors.contains("settings.yaml:1:"), "\(child.errors)")
        }
    }

    @Test func `settings without a socket for the gateway are told with the line that they lack`() async throws {
        let folder = try TestFolder()
        try folder.write("pcm: default", to: "settings.yaml")
        let child = try ChildProcess(
            Products.path("quickconnect-web"),
            [
                "--config", folder("settings.yaml"), "--socket", folder("socket"), "--state", folder("state"),
                "--listen",
                "127.0.0.1:0",
            ]
        )
        try await eventually("it says so") {
            child.errors.contains("below «sockets:» write «- {path: /tmp/web.sock, gateway: web, user: ")
        }
        child.send(SIGTERM)
        #expect(try await child.wait() == .status(0))
    }

    @Test func `mistakes on the command line are told`() async throws {
        let folder = try TestFolder()
        for (flags, words, status) in [
            (["--listen", "nonsense"], "is not ADDRESS:PORT", Int32(2)), (["--no-such"], "Unknown option", 2),
            (["--listen", "192.0.2.1:1"], "cannot listen on 192.0.2.1, port 1", 1),
            (["--state", "/dev/null/x"], "cannot be made", 1),
        ] {
            let state = flags.contains("--state") ? [] : ["--state", folder("state")]
            let child = try ChildProcess(Products.path("quickconnect-web"), flags + state)
            #expect(try await child.wait() == .status(status), "\(flags)")
            #expect(child.errors.contains(words), "\(child.errors)")
        }
    }

    @Test func `a port that is taken ends the program with who has it and the setting that mends it`() async throws {
        let web = try await WebProcess()
        let folder = try TestFolder()
        let listen = "127.0.0.1:\(web.port)"
        let child = try ChildProcess(
            Products.path("quickconnect-web"),
            ["--listen", listen, "--state", folder("state")]
        )
        #expect(try await child.wait() == .status(1))
        let holder = "quickconnect-we (process \(web.web.pid)) has that port"
        let mend = "choose another one: «web: {listen: \"127.0.0.1:PORT\"}» in the settings"
        #expect(child.errors.contains("cannot listen on 127.0.0.1, port \(web.port): \(holder)"), "\(child.errors)")
        #expect(child.errors.contains(mend) && !child.errors.contains("errno"), "\(child.errors)")
    }
}
