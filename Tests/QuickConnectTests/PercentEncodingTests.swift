import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("Percent-encoding is encodeURIComponent's")
struct PercentEncodingTests {
    /// ECMA-262, 19.2.6: what `encodeURIComponent` leaves as it is.
    private static let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()"

    @Test("Letters, digits and - _ . ! ~ * ' ( ) stay, every other byte becomes % and two capital digits")
    func table() {
        for value in UInt8.min...0x7F {
            let text = String(Unicode.Scalar(value))
            let hexadecimal = String(value, radix: 16, uppercase: true)
            let escape = "%" + (hexadecimal.count < 2 ? "0" : "") + hexadecimal
            #expect(PercentEncoding.encode(text) == (Self.unreserved.contains(text) ? text : escape))
        }
        #expect(PercentEncoding.encode("é€𝄞") == "%C3%A9%E2%82%AC%F0%9D%84%9E")
        #expect(PercentEncoding.encode("\u{D7FF}\u{E000}\u{FFFF}") == "%ED%9F%BF%EE%80%80%EF%BF%BF")
    }

    private static let program = ["/usr/bin/node", "/usr/local/bin/node"].first(
        where: FileManager.default.isExecutableFile
    )

    @Test("node encodes every character of a sample the same", .enabled(if: program != nil, "node is not installed"))
    func node() async throws {
        let scalars = Array(0..<0x3000) + Array(stride(from: 0x3000, to: 0x11_0000, by: 97))
        let text = String(String.UnicodeScalarView(scalars.compactMap { Unicode.Scalar(UInt32($0)) }))
        let script =
            "let t='';process.stdin.setEncoding('utf8').on('data',d=>t+=d)"
            + ".on('end',()=>process.stdout.write(encodeURIComponent(JSON.parse(t))))"
        #expect(try await Self.run(script, input: JSONValue.string(text).text) == PercentEncoding.encode(text))
    }

    // Not Foundation's Process, which reads beyond a folder's entries: the address sanitizer ends the tests there.
    private static func run(_ script: String, input: String) async throws -> String {
        let folder = try TestFolder()
        try folder.write(input, to: "input")
        let node = try ChildProcess(#require(program), ["-e", script], input: folder("input"))
        #expect(try await node.wait() == .status(0))
        return String(decoding: node.standardOutput, as: UTF8.self)
    }
}
