import Foundation
import JSON
import Testing

@Suite("Base64")
struct Base64Tests {
    @Test func `bytes of any length become the text of RFC 4648 and bytes again`() {
        for count in 0..<200 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
            let text = Base64.encode(bytes)
            #expect(text == Data(bytes).base64EncodedString() && text.utf8.count == Base64.length(ofBytes: count))
            #expect(Base64.decode(text) == bytes)
        }
    }

    @Test(
        arguments: [
            "A", "AA", "AAA", "AA=", "A===", "====", "=", "AAA=AAAA", "AA==AAAA", "AB==", "AAB=", "AA A", "AAAA\n",
            "AA-_", "AAé", "AA=A", "\u{0}\u{0}\u{0}\u{0}",
        ]
    )
    func `what is not exactly that is nothing`(text: String) { #expect(Base64.decode(text) == nil) }
}
