import Foundation
import TestRig
import Testing

/// `Examples/procedure-server`, as a device and its owner ask it.
@Suite("Server of procedures")
struct ProcedureServerTests {
    private func curl(_ words: String...) async throws -> String {
        try await ChildProcess.run("curl", ["-s", "--path-as-is", "--max-time", "20"] + words).output
    }

    @Test(.needs("curl"))
    func `it serves files and their digests, keeps versions, and knows no other names`() async throws {
        let folder = try TestFolder()
        let server = try ChildProcess(
            "node",
            [Products.root + "/Examples/procedure-server/server.js", "--folder", folder("up"), "--port", "0"],
            environment: ["PATH": "/usr/bin:/bin", "TOKEN": "secret"]
        )
        var address = ""
        try await eventually("it listens") {
            address = String(decoding: server.standardOutput, as: UTF8.self).trimmingCharacters(in: .newlines)
            return address.hasSuffix("/uploads/")
        }
        let token = "authorization: Bearer secret"
        #expect(try await curl("-X", "PUT", "-d", "1", "\(address)a.js").contains("a token is needed"))
        #expect(try await curl("-X", "PUT", "-H", token, "-d", "one", "\(address)a.js") == #"{"version":1}"#)
        #expect(try await curl("-X", "PUT", "-H", token, "-d", "two", "\(address)a.js") == #"{"version":2}"#)
        let reply = try await curl("-i", "\(address)a.js")
        #expect(reply.contains("xtimestamp: ") && reply.contains("xsent: true") && reply.hasSuffix("two"))
        let digest = "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"
        #expect(try await curl("\(address)manifest.json") == #"{"version":2,"files":{"a.js":"\#(digest)"}}"#)
        let signature = "\(address)manifest.json.sig"
        #expect(try await curl(signature).contains("the manifest is not signed"))
        let sign = String(repeating: "s", count: 64)
        #expect(try await curl("-X", "PUT", "-d", sign, signature).contains("a token is needed"))
        #expect(try await curl("-X", "PUT", "-H", token, "-d", "short", signature).contains("a signature has 64 bytes"))
        #expect(try await curl("-X", "PUT", "-H", token, "-d", sign, signature) == "null")
        let base64 = Data(sign.utf8).base64EncodedString()
        #expect(try await curl(signature) == base64)
        #expect(try await curl("-X", "PUT", "-H", token, "-d", "\(base64)\n", signature) == "null")
        #expect(try await curl(signature) == base64)
        let cached = try await curl(
            "-o",
            "/dev/null",
            "-w",
            "%{http_code}",
            "-H",
            #"if-none-match: "\#(digest)""#,
            "\(address)a.js"
        )
        #expect(cached == "304")
        let versions = address.replacingOccurrences(of: "/uploads/", with: "/versions/")
        #expect(try await curl("-X", "POST", "-H", token, "\(versions)a.js?to=1") == #"{"version":3}"#)
        #expect(try await curl("\(address)a.js") == "one")
        #expect(try await curl(signature).contains("the manifest has changed since it was signed"))
        for name in [".env", "../server.js", "..%2f..%2fx.js", "lib/../../x.js", "a.txt", "%00.js", "%zz", "b.js"] {
            let status = try await curl("-o", "/dev/null", "-w", "%{http_code}", "\(address)\(name)")
            #expect(["400", "404"].contains(status), "\(name): \(status)")
        }
    }
}
