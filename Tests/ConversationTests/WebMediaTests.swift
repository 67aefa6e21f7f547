import Foundation
import JSON
import TestRig
import Testing

/// Files of the media folder by their addresses, over real HTTP.
@Suite("Media over HTTP")
struct WebMediaTests {
    private func start(_ change: (inout WebProcess.Options) -> Void = { _ in }) async throws -> WebProcess {
        var options = WebProcess.Options()
        options.commands += ["media", "rec", "play"]
        change(&options)
        return try await WebProcess(options)
    }

    /// A program that is logged in.
    private struct Program {
        let web: WebProcess
        let token: String
        var bearer: String { "Authorization: Bearer \(token)" }

        func ask(_ method: String, _ target: String, _ headers: [String] = [], _ body: String? = nil) async throws
            -> WebAnswer
        {
            try await web.ask(method, target, [bearer] + headers, body: body)
        }
    }

    private func program(_ name: String, _ web: WebProcess) async throws -> Program {
        Program(web: web, token: try await web.token(of: name))
    }

    private func names(_ web: WebProcess) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: web.folder("media")).sorted()
    }

    private func isMedia(_ answer: WebAnswer) -> Bool {
        answer["content-security-policy"] == "sandbox; default-src 'none'"
            && answer["x-content-type-options"] == "nosniff"
            && answer["cross-origin-resource-policy"] == "same-origin"
    }

    // MARK: Reading

    @Test func `a file is written, read whole and in parts, and is known the second time`() async throws {
        let web = try await start()
        let ann = try await program("ann", web)
        let text = String((0..<20_000).map { "\($0 % 10)" }.joined())
        let put = try await ann.ask("PUT", "/media/a%20b.wav", [], text)
        #expect(put.status == 201 && put.json == ["file": "a b.wav", "bytes": 20_000] && isMedia(put))
        let whole = try await ann.ask("GET", "/media/a%20b.wav")
        #expect(whole.status == 200 && whole.text == text && whole["content-type"] == "audio/wav" && isMedia(whole))
        #expect(whole["accept-ranges"] == "bytes" && whole["content-disposition"] == nil)
        let head = try await ann.ask("HEAD", "/media/a%20b.wav")
        #expect(head.status == 200 && head["content-length"] == "20000" && head.body == [] && isMedia(head))
        let tag = try #require(whole["etag"]), date = try #require(whole["last-modified"])
        for (range, expected) in [
            ("0-9", "bytes 0-9/20000"), ("19995-", "bytes 19995-19999/20000"),
            ("-5", "bytes 19995-19999/20000"), ("19990-30000", "bytes 19990-19999/20000"),
        ] {
            for condition in [[], ["If-Range: \(tag)"], ["If-Range: \(date)"]] {
                let part = try await ann.ask("GET", "/media/a%20b.wav", ["Range: bytes=\(range)"] + condition)
                #expect(part.status == 206 && part["content-range"] == expected && isMedia(part), "\(range)")
                #expect(part.text == (range == "0-9" || range.hasPrefix("19990") ? "0123456789" : "56789"))
            }
        }
        for range in ["20000-", "-0", "99999999999999999999-"] {
            let answer = try await ann.ask("GET", "/media/a%20b.wav", ["Range: bytes=\(range)"])
            #expect(answer.status == 416 && answer["content-range"] == "bytes */20000" && isMedia(answer))
        }
        for headers in [["Range: bytes=5-1"], ["Range: bytes=0-1,3-4"], ["Range: bytes=0-1", "If-Range: \"old\""]] {
            #expect(try await ann.ask("GET", "/media/a%20b.wav", headers).status == 200, "\(headers)")
        }
        for headers in [["If-None-Match: \(tag)"], ["If-Modified-Since: \(date)"]] {
            #expect(try await ann.ask("GET", "/media/a%20b.wav", headers).status == 304)
        }
        let page = try #require(try await ann.ask("GET", "/style.css")["etag"])
        for (target, own) in [("/media/a%20b.wav", tag), ("/style.css", page)] {
            for (condition, status) in [("\"zz\"", 412), ("W/\(own)", 412), ("\"zz\", \(own)", 200), ("*", 200)] {
                let answer = try await ann.ask("GET", target, ["If-Match: \(condition)"])
                #expect(
                    answer.status == status && (status == 200 || answer.text.contains("its ETag is")),
                    "\(condition)"
                )
            }
        }
        _ = try await ann.ask("PUT", "/media/a%20b.wav", [], "new")
        let new = try await ann.ask(
            "GET",
            "/media/a%20b.wav",
            ["If-None-Match: \(tag)", "Range: bytes=0-1", "If-Range: \(tag)"]
        )
        #expect(new.status == 200 && new.text == "new")
    }

    @Test func `an upload with If-Match or If-None-Match overwrites nothing that its sender has not seen`() async throws
    {
        let web = try await start()
        let ann = try await program("ann", web)
        func put(_ text: String, _ headers: String...) async throws -> WebAnswer {
            try await ann.ask("PUT", "/media/notes.txt", headers, text)
        }
        let gone = try await put("one", "If-Match: *")
        #expect(gone.status == 412 && gone.text.contains("there is no file 'notes.txt'") && isMedia(gone))
        let first = try await put("one", "If-None-Match: *")
        let tag = try #require(first["etag"])
        #expect(first.status == 201 && first.json == ["file": "notes.txt", "bytes": 3])
        #expect(try await ann.ask("GET", "/media/notes.txt")["etag"] == tag)
        #expect(try await put("two", "If-None-Match: *").status == 412)
        let second = try await put("two", "If-Match: \"x\", \(tag)")
        #expect(second.status == 201 && second["etag"] != nil && second["etag"] != tag)
        for condition in ["If-Match: \(tag)", "If-Match: \"x\"", "If-Match: W/\(second["etag"] ?? "")", "If-Match: x"] {
            #expect(try await put("three", condition).status == 412, "\(condition)")
        }
        for condition in ["If-None-Match: \(tag)", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"] {
            #expect(try await put("three", condition).status == 400, "\(condition)")
        }
        #expect(try await put("three", "If-Match: *").status == 201)
        #expect(try await ann.ask("GET", "/media/notes.txt").text == "three")
    }

    @Test func `a file of 3 MB passes both ways, also in chunks, and an empty one`() async throws {
        let web = try await start()
        let ann = try await program("ann", web)
        let text = String((0..<300_000).map { "\($0 + 1_000_000)abc" }.joined())
        #expect(try await ann.ask("PUT", "/media/big.bin", [], text).status == 201)
        let connection = try web.connection()
        var chunks = web.request("PUT", "/media/chunks.bin", [ann.bearer, "Transfer-Encoding: chunked"])
        var rest = text[...]
        while !rest.isEmpty {
            let piece = rest.prefix(99_999)
            rest = rest.dropFirst(piece.count)
            chunks += String(piece.utf8.count, radix: 16) + "\r\n\(piece)\r\n"
        }
        // A further request right behind it, on the same connection.
        connection.send(chunks + "0\r\n\r\n" + web.request("GET", "/media/chunks.bin", [ann.bearer]))
        #expect(try await connection.answer().status == 201)
        for answer in [try await connection.answer(), try await ann.ask("GET", "/media/big.bin")] {
            #expect(answer.text == text && answer["content-type"] == "application/octet-stream" && isMedia(answer))
        }
        #expect(try await ann.ask("PUT", "/media/empty.wav", [], "").status == 201)
        let named = try await ann.ask("PUT", "/media/x", [], "1")
        #expect(named.status == 201 && named.json == ["file": "x.caf", "bytes": 1])
        #expect(try await ann.ask("GET", "/media/x").text == "1")
        let empty = try await ann.ask("GET", "/media/empty.wav")
        #expect(empty.status == 200 && empty.body == [] && empty["content-length"] == "0")
        #expect(try await ann.ask("GET", "/media/empty.wav", ["Range: bytes=0-"]).status == 416)
        #expect(try names(web) == ["big.bin", "chunks.bin", "empty.wav", "x.caf"])
    }

    @Test(arguments: ["a.svg", "a.html", "a.js", "a.txt", "a.pdf", "A.HTML", "ü\".htm"])
    func `what could be a page comes as an attachment of no type`(name: String) async throws {
        let web = try await start()
        let ann = try await program("ann", web)
        let escaped = try #require(name.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        _ = try await ann.ask("PUT", "/media/\(escaped)", [], "<script>alert(1)</script>")
        let answer = try await ann.ask("GET", "/media/\(escaped)")
        #expect(answer.status == 200 && answer["content-type"] == "application/octet-stream" && isMedia(answer))
        let disposition = answer["content-disposition"] ?? ""
        #expect(disposition.hasPrefix("attachment; filename*=UTF-8''") && disposition.utf8.allSatisfy { $0 < 0x7F })
        #expect(disposition.dropFirst(29).removingPercentEncoding == name)
    }

    @Test func `a file of the pages wins, and is not hidden by an upload`() async throws {
        let web = try await start()
        let ann = try await program("ann", web)
        try FileManager.default.createDirectory(atPath: web.folder("pages/media"), withIntermediateDirectories: true)
        try web.folder.write("<p>mine", to: "pages/media/own.html")
        let page = try await ann.ask("GET", "/media/own.html")
        #expect(page.text == "<p>mine" && page["content-type"] == "text/html; charset=utf-8" && !isMedia(page))
        let put = try await ann.ask("PUT", "/media/own.html", [], "x")
        #expect(put.status == 409 && put.text.contains("choose another name") && isMedia(put))
        #expect(try names(web) == [])
        #expect(try await ann.ask("PUT", "/media/other.html", [], "x").status == 201)
    }

    // MARK: Who may

    @Test func `the daemon's owners hold: another's file is neither read nor replaced, a shared one is read`()
        async throws
    {
        let web = try await start()
        let (ann, bob) = (try await program("ann", web), try await program("bob", web))
        _ = try await ann.ask("PUT", "/media/own.wav", [], "ann's")
        _ = try await ann.ask("PUT", "/media/all.wav?shared=true", [], "all's")
        for method in ["GET", "PUT"] {
            let answer = try await bob.ask(method, "/media/own.wav", [], method == "PUT" ? "bob's" : nil)
            #expect(
                answer.status == 403 && answer.text.contains("'own.wav' belongs to web:ann: only its owner")
                    && isMedia(answer)
            )
        }
        #expect(try await bob.ask("HEAD", "/media/own.wav").status == 403)
        #expect(try await bob.ask("GET", "/media/all.wav").text == "all's")
        #expect(try await bob.ask("PUT", "/media/all.wav", [], "bob's").status == 403)
        try web.folder.write("root's", to: "media/root.wav")
        let answer = try await ann.ask("GET", "/media/root.wav")
        #expect(answer.status == 403 && answer.text.contains(#"{users: [\"web:ann\"]}"#))
        #expect(try await ann.ask("GET", "/media/own.wav").text == "ann's")
    }

    @Test func `who is not logged in gets nothing and writes nothing, and no byte of the body is awaited`() async throws
    {
        let web = try await start()
        _ = try await program("ann", web).ask("PUT", "/media/a.wav", [], "secret")
        #expect(try await web.ask("GET", "/media/a.wav").status == 401)
        #expect(try await web.ask("GET", "/media/a.wav", ["Accept: text/html"]).status == 303)
        let missing = try await program("ben", web).ask("GET", "/media/none.wav", ["Accept: text/html"])
        #expect(missing.status == 404 && missing.text.contains(#"href="../style.css""#), "\(missing)")
        for (method, target) in [("PUT", "/media/a.wav"), ("POST", "/media")] {
            let connection = try web.connection()
            connection.send(web.request(method, target, ["Origin: \(web.origin)", "Content-Length: 1000000000"]))
            let answer = try await connection.answer()
            #expect(answer.status == 401 && isMedia(answer) && answer["connection"] == "close")
        }
        #expect(try await web.ask("PUT", "/media/a.wav", ["Authorization: Bearer wrong"], body: "x").status == 401)
        #expect(try web.folder.data("media/a.wav") == Data("secret".utf8))
    }

    @Test func `a command that the gateway's list lacks is denied by address, too`() async throws {
        let web = try await start { $0.commands.removeAll { $0 == "media" } }
        let ann = try await program("ann", web)
        try web.folder.write("x", to: "media/a.wav")
        for method in ["GET", "PUT"] {
            let answer = try await ann.ask(method, "/media/a.wav", [], method == "PUT" ? "x" : nil)
            #expect(answer.status == 403 && answer.text.contains("media"))
        }
    }

    @Test func `a page reads and writes with its cookie, and needs its Origin to write`() async throws {
        let web = try await start()
        let cookie = "Cookie: \(try await web.cookie(of: "ann"))"
        #expect(try await web.ask("PUT", "/media/a.wav", [cookie, "Origin: \(web.origin)"], body: "x").status == 201)
        #expect(try await web.ask("GET", "/media/a.wav", [cookie, "Sec-Fetch-Site: same-origin"]).text == "x")
        #expect(try await web.ask("GET", "/media/a.wav", [cookie]).text == "x")
        for headers in [[], ["Origin: http://evil.test"], ["Origin: null"], ["Origin: http://127.0.0.1:1"]] {
            let put = try await web.ask("PUT", "/media/b.wav", [cookie] + headers, body: "x")
            let form = try await web.ask(
                "POST",
                "/media",
                [cookie, "Content-Type: multipart/form-data; boundary=B"] + headers,
                body: "--B--"
            )
            #expect(put.status == 403 && form.status == 403 && isMedia(put), "\(headers)")
        }
        for header in ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Origin: http://evil.test"] {
            let answer = try await web.ask("GET", "/media/a.wav", [cookie, header])
            #expect(answer.status == 403 && isMedia(answer), "\(header)")
        }
        #expect(try await web.ask("GET", "/media/a.wav", [cookie], host: "evil.test").status == 421)
        #expect(try names(web) == ["a.wav"])
    }

    // MARK: Names

    @Test(
        arguments: [
            "/media/../media/a.wav", "/media/%2e%2e/media/a.wav", "/media/..%2fa.wav", "/media/a%00.wav",
            "/media//a.wav",
            "/media/.hidden.wav", "/media/x%2fa.wav", "/media/a%0a.wav", "/media/a%5c.wav", "/media/%ff.wav",
            "/media/%zz",
            "/media/\(String(repeating: "n", count: 241)).wav", "/media/\(String(repeating: "n/", count: 600))a.wav",
            "/media/link/passwd", "/media/./a.wav", "/media/",
        ]
    )
    func `an address that leads elsewhere, or is none, reaches no file and makes none`(target: String) async throws {
        let web = try await start()
        let ann = try await program("ann", web)
        try web.folder.write("x", to: "media/a.wav")
        try FileManager.default.createSymbolicLink(atPath: web.folder("media/link"), withDestinationPath: "/etc")
        let before = try names(web)
        for method in ["GET", "HEAD", "PUT"] {
            let answer = try await ann.ask(method, target, [], method == "PUT" ? "x" : nil)
            #expect([400, 404, 405, 422].contains(answer.status), "\(method) \(answer)")
            #expect(method == "HEAD" || answer.code != nil)
        }
        #expect(try names(web) == before)
    }

    @Test func `other methods, and heads that mean something else, are refused with what they lack`() async throws {
        let web = try await start()
        let ann = try await program("ann", web)
        let delete = try await ann.ask("DELETE", "/media/a.wav")
        #expect(delete.status == 405 && delete["allow"] == "GET, HEAD, PUT")
        #expect(try await ann.ask("POST", "/media/a.wav", [], "x").status == 405)
        #expect(try await ann.ask("PUT", "/media", [], "x").status == 405)
        #expect(try await ann.ask("PUT", "/media/a.wav", ["Content-Range: bytes 0-0/2"], "x").status == 400)
        #expect(try await ann.ask("PUT", "/media/a.wav", ["Content-Encoding: gzip"], "x").status == 400)
        for query in ["shared=yes", "a=b&shared", "shared=true&shared="] {
            let answer = try await ann.ask("PUT", "/media/a.wav?\(query)", [], "x")
            #expect(answer.status == 400 && answer.text.contains("«shared» is true"), "\(query)")
        }
        let form = try await ann.ask("POST", "/media", ["Content-Type: text/plain"], "x")
        #expect(form.status == 415 && form.text.contains("multipart/form-data"))
        let folder = try await ann.ask("PUT", "/media/no/a.wav", [], "x")
        #expect(folder.status == 404 && folder.text.contains("there is no folder 'no'"))
        #expect(try names(web) == [])
    }

    // MARK: Forms

    @Test func `a form's files are all kept, and a broken form leaves nothing half`() async throws {
        let web = try await start()
        let ann = try await program("ann", web)
        let type = "Content-Type: multipart/form-data; boundary=B"
        let long = String(repeating: "0123456789", count: 30_000)
        func part(_ name: String, _ text: String) -> String {
            "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\(name)\"\r\n\r\n\(text)\r\n"
        }
        let answer = try await ann.ask(
            "POST",
            "/media",
            [type],
            part("a", "one") + part("../b.png", long) + "--B--\r\n"
        )
        let files: JSONValue = [["file": "a.caf", "bytes": 3], ["file": "b.png", "bytes": 300_000]]
        #expect(answer.status == 201 && answer.json == ["files": files])
        #expect(try web.folder.data("media/b.png") == Data(long.utf8))
        let cut = try await ann.ask("POST", "/media/", [type], part("c.wav", "whole") + part("d.wav", long).dropLast(2))
        #expect(cut.status == 400 && cut.text.contains("the form has no end"))
        let bad = try await ann.ask("POST", "/media", [type], part(".hidden", "x") + "--B--")
        #expect(bad.status == 422)
        #expect(try await ann.ask("POST", "/media", [type], "--B--").text.contains("the form has no file"))
        try await eventually("nothing half is left") { try names(web) == ["a.caf", "b.png", "c.wav"] }
    }

    /// Of a form, the last bytes that have come may be the beginning of its boundary.
    @Test(arguments: [65_535, 65_536, 65_537, 65_539, 65_540, 131_072])
    func `a form goes on wherever its first piece ends`(count: Int) async throws {
        let web = try await start()
        let token = try await web.token(of: "ann")
        let data = String(repeating: "x", count: count)
        let head = "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.wav\"\r\n\r\n"
        let rest = "y\r\n--B--\r\n"
        let length = head.utf8.count + count + rest.utf8.count
        let connection = try web.connection()
        let headers = [
            "Authorization: Bearer \(token)", "Content-Type: multipart/form-data; boundary=B",
            "Content-Length: \(length)",
        ]
        for piece in [web.request("POST", "/media", headers), head, data, rest] {
            connection.send(piece)
            // Sleeps so that the gateway reads each piece alone; pieces that come together would only test less.
            try await Task.sleep(for: .milliseconds(100))
        }
        let answer = try await connection.answer()
        #expect(
            answer.status == 201 && answer.json == ["files": [["file": "a.wav", "bytes": .integer(Int64(count + 1))]]]
        )
    }

    // MARK: Limits

    @Test func `an upload that is cut in the middle leaves nothing, and the old file stays`() async throws {
        let web = try await start()
        let ann = try await program("ann", web)
        _ = try await ann.ask("PUT", "/media/a.wav", [], "old")
        for resets in [false, true] {
            let connection = try web.connection()
            let head = web.request("PUT", "/media/a.wav", [ann.bearer, "Content-Length: 1000000"])
            connection.send(head + String(repeating: "x", count: 300_000))
            try await eventually("it is under way") { try names(web) == [".a.wav.upload", "a.wav"] }
            // Another one of that name has to wait for it.
            let second = try await ann.ask("PUT", "/media/a.wav", [], "new")
            #expect(second.status == 409 && second.text.contains("is being written"))
            if resets { connection.reset() }
            connection.close()
            if resets { withExtendedLifetime(connection) {} }
            try await eventually("nothing is left") { try names(web) == ["a.wav"] }
        }
        #expect(try await ann.ask("GET", "/media/a.wav").text == "old")
        #expect(try await ann.ask("PUT", "/media/a.wav", [], "new").status == 201)
    }

    @Test func `what is too large is refused by its head, or as soon as it is`() async throws {
        let web = try await start { $0.settings = "recording: {quotaBytes: 200000}" }
        let ann = try await program("ann", web)
        let connection = try web.connection()
        connection.send(web.request("PUT", "/media/a.wav", [ann.bearer, "Content-Length: 200001"]))
        let answer = try await connection.answer()
        #expect(answer.status == 413 && answer.text.contains("recording.quotaBytes") && isMedia(answer))
        let expecting = try web.connection()
        let expect = [ann.bearer, "Content-Length: 200001", "Expect: 100-continue"]
        expecting.send(web.request("PUT", "/media/a.wav", expect))
        #expect(try await expecting.answer().status == 413)
        let chunks = try web.connection()
        chunks.send(web.request("PUT", "/media/a.wav", [ann.bearer, "Transfer-Encoding: chunked"]))
        let chunk = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
        chunks.send(String(repeating: chunk, count: 10))
        #expect(try await chunks.answer().status == 413)
        try await eventually("nothing is left") { try names(web) == [] }
        let fits = try web.connection()
        fits.send(web.request("PUT", "/media/a.wav", [ann.bearer, "Content-Length: 5", "Expect: 100-continue"]))
        #expect(try await fits.answer().status == 100)
        fits.send("12345")
        #expect(try await fits.answer().status == 201)
    }

    @Test func `a full disk is 507, and is said so`() async throws {
        let web = try await start { $0.settings = "recording: {reserveBytes: 1125899906842624}" }
        let answer = try await program("ann", web).ask("PUT", "/media/a.wav", [], "x")
        #expect(answer.status == 507 && answer.text.contains("the disk is full"))
        #expect(try names(web) == [])
    }

    @Test func `a user writes some files at a time, and others are not kept from it`() async throws {
        let web = try await start { $0.connections = 64 }
        let (ann, bob) = (try await program("ann", web), try await program("bob", web))
        var open: [WebConnection] = []
        for number in 0..<8 {
            let connection = try web.connection()
            connection.send(web.request("PUT", "/media/\(number).wav", [ann.bearer, "Content-Length: 9"]))
            open.append(connection)
        }
        try await eventually("all are under way") { try names(web).count == 8 }
        let ninth = try await ann.ask("PUT", "/media/8.wav", [], "x")
        #expect(ninth.status == 503 && ninth["retry-after"] == "1" && ninth.text.contains("writing 8 files already"))
        #expect(try await bob.ask("PUT", "/media/bob.wav", [], "x").status == 201)
        for connection in open { connection.send("123456789") }
        for connection in open { #expect(try await connection.answer().status == 201) }
        #expect(try await ann.ask("PUT", "/media/8.wav", [], "x").status == 201)
    }

    @Test func `a file that is replaced while it is read ends the answer instead of mixing both`() async throws {
        let web = try await start()
        let ann = try await program("ann", web)
        let old = String(repeating: "a", count: 30_000_000)
        _ = try await ann.ask("PUT", "/media/a.wav", [], old)
        let connection = try web.connection()
        connection.send(web.request("GET", "/media/a.wav", [ann.bearer]))
        let head = try await connection.head()
        #expect(head.status == 200 && head["content-length"] == "30000000")
        // It is not read meanwhile, so that most of it is still to come.
        _ = try await ann.ask("PUT", "/media/a.wav", [], "b")
        let rest = try await connection.rest()
        #expect(rest.count < 30_000_000 && rest.allSatisfy { $0 == UInt8(ascii: "a") })
    }

    @Test func `log-out ends an upload and a download`() async throws {
        let web = try await start()
        let cookie = "Cookie: \(try await web.cookie(of: "ann"))"
        let origin = "Origin: \(web.origin)"
        _ = try await web.ask("PUT", "/media/a.wav", [cookie, origin], body: String(repeating: "a", count: 30_000_000))
        let (upload, download) = (try web.connection(), try web.connection())
        upload.send(web.request("PUT", "/media/b.wav", [cookie, origin, "Content-Length: 9"]) + "123")
        download.send(web.request("GET", "/media/a.wav", [cookie]))
        #expect(try await download.head().status == 200)
        try await eventually("it is under way") { try names(web) == [".b.wav.upload", "a.wav"] }
        #expect(try await web.ask("POST", "/logout", [cookie, origin], body: "").status == 204)
        try await eventually("nothing is left") { try names(web) == ["a.wav"] }
        upload.send("456789")
        #expect(try await upload.answer().status != 201)
        #expect(try await download.rest().count < 30_000_000)
    }

    @Test func `a daemon that goes ends what is under way, and a new one serves again`() async throws {
        let web = try await start()
        let ann = try await program("ann", web)
        let upload = try web.connection()
        upload.send(web.request("PUT", "/media/a.wav", [ann.bearer, "Content-Length: 9"]) + "123")
        try await eventually("it is under way") { try names(web) == [".a.wav.upload"] }
        try await web.killDaemon()
        upload.send("456789")
        let answer = try await upload.answer()
        #expect(answer.status == 503 && answer.text.contains("the daemon"))
        #expect(try await ann.ask("GET", "/media/a.wav").status == 503)
        try await web.startDaemon()
        try await eventually("what was cut is gone") { try names(web) == [] }
        #expect(try await ann.ask("PUT", "/media/a.wav", [], "123").status == 201)
    }
}

extension WebConnection {
    /// The head of an answer, without its body.
    func head() async throws -> WebAnswer { try await answer(isHead: true) }
}
