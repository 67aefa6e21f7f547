import JSON
import QuickConnect
import Testing

@testable import Readers

/// What readers type, as keys of an American keyboard.
@Suite struct TypedTextTests {
    private static let shift: UInt16 = 42
    private static let control: UInt16 = 29
    private static let enter: UInt16 = 28
    private static let tab: UInt16 = 15

    private func type(_ codes: [UInt16], into text: inout TypedText) -> [TypedText.Outcome] {
        codes.flatMap { code in [true, false].compactMap { text.take(code, isPressed: $0) } }
    }

    @Test func `digits and letters become a text at Enter`() {
        var text = TypedText(end: .enter, maxLength: 10)
        // 0, 4, KP7, a, KPENTER; then nothing but Enter.
        #expect(type([11, 5, 71, 30, 96], into: &text) == [.text("047a")])
        #expect(type([Self.enter, Self.enter], into: &text) == [])
        #expect(!text.isBegun)
    }

    @Test func `shift holds for the keys that it is held for`() {
        var text = TypedText(end: .enter, maxLength: 10)
        _ = text.take(Self.shift, isPressed: true)
        _ = type([30, 3], into: &text)
        _ = text.take(Self.shift, isPressed: false)
        #expect(type([30, 3, Self.enter], into: &text) == [.text("A@a2")])
    }

    @Test func `control and a bracket are the group separator of GS1 codes`() {
        var text = TypedText(end: .enter, maxLength: 10)
        _ = text.take(Self.control, isPressed: true)
        _ = type([27], into: &text)
        _ = text.take(Self.control, isPressed: false)
        #expect(type([2, Self.enter], into: &text) == [.text("\u{1D}1")])
    }

    @Test func `each character of the keyboard has its key`() {
        var (plain, shifted) = (TypedText(end: .tab, maxLength: 100), TypedText(end: .tab, maxLength: 100))
        let codes: [UInt16] = Array(2...13) + Array(16...27) + Array(30...41) + Array(43...53) + [57]
        #expect(type(codes + [Self.tab], into: &plain) == [.text("1234567890-=qwertyuiop[]asdfghjkl;'`\\zxcvbnm,./ ")])
        _ = shifted.take(54, isPressed: true)
        #expect(
            type(codes + [Self.tab], into: &shifted) == [.text("!@#$%^&*()_+QWERTYUIOP{}ASDFGHJKL:\"~|ZXCVBNM<>? ")]
        )
    }

    @Test func `a text that is too long is lost, and the next one is whole`() {
        var text = TypedText(end: .enter, maxLength: 4)
        #expect(type([2, 3, 4, 5, Self.enter], into: &text) == [.text("1234")])
        #expect(type([2, 3, 4, 5, 6, 7, Self.enter], into: &text) == [.lost])
        #expect(type(Array(repeating: 2, count: 1_000_000) + [Self.enter], into: &text) == [.lost])
        #expect(type([8, Self.enter], into: &text) == [.text("7")])
    }

    @Test func `what a loss has torn is told once, at its end`() {
        var text = TypedText(end: .enter, maxLength: 10)
        _ = type([2, 3], into: &text)
        text.breakOff()
        #expect(text.isBegun)
        #expect(type([4, Self.enter, 5, Self.enter], into: &text) == [.lost, .text("4")])
    }

    @Test func `the key that ends a text may be Tab, and Enter is then none`() {
        var text = TypedText(end: .tab, maxLength: 10)
        #expect(type([2, Self.enter, 3, Self.tab], into: &text) == [.text("12")])
    }
}

/// Keys as events.
@Suite struct PressedKeysTests {
    private func event(_ name: String, _ isPressed: Bool) -> JSONValue {
        ["key": .string(name), "pressed": .bool(isPressed)]
    }

    @Test func `only the named keys are told, by their names`() {
        var keys = PressedKeys(names: [164: "play"])
        #expect(keys.take(164, isPressed: true) == event("play", true))
        #expect(keys.take(164, isPressed: true) == nil)
        #expect(keys.take(30, isPressed: true) == nil)
        #expect(keys.take(164, isPressed: false) == event("play", false))
    }

    @Test func `without names all are told by the kernel's`() {
        var keys = PressedKeys(names: [:])
        #expect(keys.take(164, isPressed: true) == event("KEY_PLAYPAUSE", true))
        #expect(keys.take(0x120, isPressed: true) == event("BTN_TRIGGER", true))
        #expect(keys.take(0x2FE, isPressed: true) == event("KEY_766", true))
    }

    @Test func `after a loss each key is what it is now`() {
        var keys = PressedKeys(names: [164: "play", 115: "louder"])
        _ = keys.take(164, isPressed: true)
        #expect(keys.settle([115, 30]) == [event("play", false), event("louder", true)])
        #expect(keys.settle([]) == [event("louder", false)])
    }
}
