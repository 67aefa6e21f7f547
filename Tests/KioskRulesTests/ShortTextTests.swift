import KioskRules
import Testing

@Suite("A text of a page where people see it")
struct ShortTextTests {
    @Test(arguments: ["", "Shop", "Ünïcödé 𝄞", "a\nb\nc"])
    func `a short one stays as it is`(text: String) { #expect(ShortText.of(text, length: 20, lines: 3) == text) }

    @Test(arguments: ["T", "\u{301}", "𝄞", "👩‍👩‍👧"])
    func `a long one is cut, whatever it consists of`(part: String) {
        let text = ShortText.of("T" + String(repeating: part, count: 10_000), length: 500)
        #expect(text.unicodeScalars.count == 501 && text.unicodeScalars.last == "…")
    }

    @Test(arguments: ["\n", "\r\n", "\u{2028}"])
    func `so is one of many lines`(end: String) {
        let text = ShortText.of("1" + (2...9).map { "\(end)\($0)" }.joined(), length: 500, lines: 3)
        #expect(text == "1\(end)2\(end)3…")
    }
}
