import Linux
import NIOHTTP1
import Testing

@testable import WebGateway

/// The values with which media are served and taken.
@Suite("Media by address")
struct MediaTests {
    @Test(
        arguments: [
            (nil, 10, ByteRange.whole), ("bytes=0-", 10, .part(0..<10)), ("bytes=0-0", 10, .part(0..<1)),
            ("bytes=3-5", 10, .part(3..<6)), ("bytes=3-99", 10, .part(3..<10)), ("bytes=9-", 10, .part(9..<10)),
            ("bytes=-3", 10, .part(7..<10)), ("bytes=-99", 10, .part(0..<10)), ("Bytes=1-2", 10, .part(1..<3)),
            ("bytes=0-99999999999999999999999", 10, .part(0..<10)),
            ("bytes=10-", 10, .unsatisfiable), ("bytes=10-11", 10, .unsatisfiable), ("bytes=-0", 10, .unsatisfiable),
            ("bytes=99999999999999999999999-", 10, .unsatisfiable), ("bytes=0-", 0, .unsatisfiable),
            ("bytes=-5", 0, .unsatisfiable),
            ("bytes=5-3", 10, .whole), ("bytes=0-1,4-5", 10, .whole), ("bytes=", 10, .whole), ("bytes=-", 10, .whole),
            ("bytes=a-b", 10, .whole), ("bytes=+1-2", 10, .whole), ("bytes=1--2", 10, .whole),
            ("lines=1-2", 10, .whole), ("bytes 1-2", 10, .whole), ("bytes=1- 2", 10, .whole), ("", 10, .whole),
        ] as [(String?, Int, ByteRange)]
    )
    func `a range is one part of a file, or all of it`(header: String?, size: Int, expected: ByteRange) {
        #expect(ByteRange(header, size: size) == expected)
    }

    @Test func `dates are HTTP's`() {
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.text(951_827_696) == "Tue, 29 Feb 2000 12:34:56 GMT")
        #expect(HTTPDate.text(Int.max / 2) == nil)
    }

    @Test(arguments: [
        "a.svg", "a.html", "a.htm", "a.js", "a.mjs", "a.xml", "a.pdf", "a.css", "a.txt", "a.wav.html", "a.",
    ])
    func `what could be a page, and all that is not known, is not shown`(name: String) {
        #expect(FileType.shown(name) == nil)
    }

    @Test func `sound, pictures and video are shown, a recording without an ending too`() {
        #expect(FileType.shown("a/B.WAV") == "audio/wav" && FileType.shown("a.b/c") == "audio/x-caf")
        #expect(FileType.shown("x.jpeg") == "image/jpeg" && FileType.shown("x.mp4") == "video/mp4")
        let types = ["caf", "wav", "flac", "ogg", "opus", "mp3", "png", "webp", "webm"].map {
            FileType.shown("x.\($0)")
        }
        #expect(types.allSatisfy { ["audio", "image", "video"].contains($0?.prefix { $0 != "/" }) })
    }

    // MARK: Conditions

    private func facts(_ data: String = "aA==") throws -> MediaFacts {
        let text = #"{"data":"\#(data)","offset":0,"size":10,"tag":"t-1","modified":784111777500}"#
        return try #require(MediaFacts(Array(text.utf8)))
    }

    private func head(_ headers: [(String, String)]) -> HTTPRequestHead {
        HTTPRequestHead(version: .http1_1, method: .GET, uri: "/media/a.wav", headers: HTTPHeaders(headers))
    }

    @Test func `a browser that has the file already is told so, and If-Range asks for a part of the same`() throws {
        let facts = try facts()
        let (tag, date) = ("\"t-1\"", "Sun, 06 Nov 1994 08:49:37 GMT")
        for known in [
            ("if-none-match", tag), ("if-none-match", "W/\(tag)"), ("if-none-match", "\"x\", \(tag)"),
            ("if-none-match", "*"), ("if-modified-since", date),
            ("if-modified-since", "Sun, 06 Nov 1994 08:49:38 GMT"),
            ("if-modified-since", "Fri, 31 Dec 2055 08:00:00 GMT"),
        ] {
            #expect(facts.isKnown(head([known])), "\(known)")
        }
        for other in [
            ("if-none-match", "\"t\""), ("if-modified-since", "Sun, 06 Nov 1994 08:49:36 GMT"),
            ("if-modified-since", "today"), ("a", tag),
        ] {
            #expect(!facts.isKnown(head([other])), "\(other)")
        }
        // The tag alone counts if there is one.
        #expect(!facts.isKnown(head([("if-none-match", "\"x\""), ("if-modified-since", date)])))
        for condition in [tag, date] {
            #expect(facts.range(head([("range", "bytes=1-2"), ("if-range", condition)])) == .part(1..<3))
        }
        for condition in ["\"x\"", "W/\(tag)", "Mon, 07 Nov 1994 08:49:37 GMT"] {
            #expect(facts.range(head([("range", "bytes=1-2"), ("if-range", condition)])) == .whole)
        }
        #expect(facts.range(head([("range", "bytes=1-2"), ("range", "bytes=3-4")])) == .whole)
    }

    @Test(arguments: ["", "null", "{}", #"{"data":"?","size":1,"tag":"x","modified":1}"#, #"{"data":"aA==","size":1}"#])
    func `what is no answer of media is none`(text: String) { #expect(MediaFacts(Array(text.utf8)) == nil) }

    // MARK: Other sites

    @Test func `a request that a browser makes for a page of another site is refused`() throws {
        let door = RequestFilter(names: [])
        func refusal(_ headers: [(String, String)]) -> UInt? {
            do { try door.checkSameSite(head(headers), host: "kiosk.lan:8467") } catch { return error.status.code }
            return nil
        }
        #expect(refusal([]) == nil && refusal([("sec-fetch-site", "same-origin")]) == nil)
        #expect(refusal([("sec-fetch-site", "none")]) == nil && refusal([("origin", "http://kiosk.lan:8467")]) == nil)
        for site in ["cross-site", "same-site", "", "Same-Origin, none"] {
            #expect(refusal([("sec-fetch-site", site)]) == 403, "\(site)")
        }
        #expect(refusal([("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")]) == 403)
        for origin in ["http://evil.test", "null", "https://kiosk.lan:8467", "http://kiosk.lan:8468"] {
            #expect(refusal([("origin", origin)]) == 403, "\(origin)")
        }
    }
}

/// Forms with files, as bytes.
@Suite("Forms")
struct FormReaderTests {
    /// All events of a form that comes in pieces of a length; bytes of a file are put together.
    private func read(_ text: String, pieces length: Int) -> [String] {
        var reader = FormReader(boundary: "B")
        var (input, rest, words, bytes) = ([UInt8](), text.utf8[...], [String](), [UInt8]())
        while true {
            switch reader.next(&input, isAll: rest.isEmpty) {
            case .more:
                input += rest.prefix(length)
                rest = rest.dropFirst(length)
            case .file(let name): words.append("file \(name)")
            case .bytes(let piece): bytes += piece
            case .fileEnd:
                words.append("«\(String(decoding: bytes, as: UTF8.self))»")
                bytes = []
            case .end: return words + ["end"]
            case .broken(let why): return words + ["broken: \(why)"]
            }
        }
    }

    private static let file = "Content-Disposition: form-data; name=\"f\"; filename="

    @Test(arguments: [1, 2, 3, 7, 64, 100_000])
    func `files are read whatever the pieces are, and fields are passed over`(length: Int) {
        let form = """
            --B\r\n\(Self.file)"a.wav"\r\nContent-Type: audio/wav\r\n\r\n\r\n--\r\n--BA\r\n-\r\n--B\r\n\
            Content-Disposition: form-data; name="text"\r\n\r\nhello\r\n--B\r\n\
            content-disposition: FORM-DATA; name="f"; filename="C:\\x\\%22é%22.png"\r\n\r\n\r\n--B\r\n\
            \(Self.file)""\r\n\r\n\r\n--B\r\n\r\nno head\r\n--B--\r\nepilogue
            """
        // A line break and hyphens within a file are its own, unless the whole boundary follows them.
        #expect(read(form, pieces: length).prefix(1) == ["file a.wav"])
        let whole = form.replacing("\r\n--BA\r\n", with: "\r\n--CA\r\n")
        #expect(read(whole, pieces: length) == ["file a.wav", "«\r\n--\r\n--CA\r\n-»", "file \"é\".png", "«»", "end"])
    }

    @Test(
        arguments: [
            (#"filename="a\"b.wav""#, #"a"b.wav"#), (#"filename="a;b\\"; name="f""#, "a;b"),
            ("filename=m2.wav", "m2.wav"),
            ("filename=a b.wav ; x", "a b.wav"), (#"FILENAME="m3.wav""#, "m3.wav"),
            (#"x; filename="m4.wav""#, "m4.wav"),
            ("name=\"f\";\r\n filename=\"m5.wav\"", "m5.wav"), ("name=\"f\";\r\n\tfilename=m6.wav", "m6.wav"),
            ("filename*=UTF-8''m%C3%A4.wav", "mä.wav"),
            ("filename=\"m?.wav\"; filename*=utf-8'de'x%2Fm%C3%A4.wav", "mä.wav"),
            ("filename=\"m7.wav\"; filename*=x", "m7.wav"), (#"name="filename=x.wav""#, nil),
            (#"name="; filename=x""#, nil),
        ] as [(String, String?)]
    )
    func `a name is taken as it is written elsewhere, too`(parameters: String, name: String?) {
        let form = "before\r\n--B \t \r\nContent-Disposition: form-data; \(parameters)\r\n\r\nx\r\n--B--  \r\n"
        for length in [1, 5, 20_000] {
            #expect(read(form, pieces: length) == (name.map { ["file \($0)", "«x»"] } ?? []) + ["end"])
        }
    }

    @Test(
        arguments: [
            ("", "the form lacks the boundary"), ("--B", "the form has no end"),
            ("--C\r\n", "the form lacks the boundary"),
            ("x--B\r\n", "the form lacks the boundary"), ("\r\n--B\r\n", "the form has no end"),
            ("--B\r\n\(file)\"a\"\r\n\r\nabc", "the form has no end"),
            ("--B\r\n\(file)\"a\"\r\n\r\nabc\r\n--B\r\n", "the form has no end"),
            ("--Bx\r\n", "not followed by a line break"),
            ("--B\r\nA: \(String(repeating: "x", count: 9000))", "the head of a part is too long"),
        ]
    )
    func `what is no form is refused with its reason`(form: String, reason: String) {
        for length in [1, 5, 20_000] { #expect(read(form, pieces: length).last?.contains(reason) == true) }
    }

    @Test func `pieces of a long file are small, and all of it comes`() {
        var reader = FormReader(boundary: "B")
        let text = String(repeating: "0123456789abcdef", count: 20_000)
        var input = Array("--B\r\n\(Self.file)\"a\"\r\n\r\n\(text)\r\n--B--".utf8)
        #expect(reader.next(&input, isAll: true) == .file("a"))
        var whole = ""
        while case .bytes(let piece) = reader.next(&input, isAll: true) {
            #expect(piece.count <= 64 << 10)
            whole += String(decoding: piece, as: UTF8.self)
        }
        #expect(whole == text && reader.next(&input, isAll: true) == .end)
    }

    @Test func `the boundary is in the type`() {
        #expect(FormReader.boundary("multipart/form-data; boundary=abc") == "abc")
        #expect(FormReader.boundary("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\"") == "a b")
        #expect(FormReader.boundary("multipart/form-data ;boundary=\"a;b\"") == "a;b")
        let long = String(repeating: "x", count: 71)
        for type in [
            "", "multipart/form-data", "multipart/form-data; boundary=", "text/plain; boundary=a",
            "multipart/form-data; boundary=\(long)",
        ] {
            #expect(FormReader.boundary(type) == nil, "\(type)")
        }
    }
}
