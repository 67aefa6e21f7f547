internal import QuickConnect

/// What a reader types, as text. Readers send the keys of an American keyboard, whatever the layout of the system is.
struct TypedText {
    /// What a key ended.
    enum Outcome: Equatable {
        case text(String)
        /// It was longer than a text may be, or a part of it was lost.
        case lost
    }

    let end: InputBinding.End
    let maxLength: Int
    private var bytes: [UInt8] = []
    private var shifts: Set<UInt16> = []
    private var controls: Set<UInt16> = []
    /// Whether a part of what is typed was lost.
    private(set) var isBroken = false

    init(end: InputBinding.End, maxLength: Int) { (self.end, self.maxLength) = (end, maxLength) }

    /// Whether something has been typed that has no end yet.
    var isBegun: Bool { !bytes.isEmpty || isBroken }

    /// Takes the press or the release of a key.
    /// - Returns: what is complete now.
    mutating func take(_ code: UInt16, isPressed: Bool) -> Outcome? {
        switch code {
        case Key.leftShift, Key.rightShift: Self.hold(&shifts, code, isPressed)
        case Key.leftControl, Key.rightControl: Self.hold(&controls, code, isPressed)
        case _ where isPressed && isEnd(code):
            defer { forget() }
            if isBroken { return .lost }
            return bytes.isEmpty ? nil : .text(String(decoding: bytes, as: UTF8.self))
        case _ where isPressed:
            guard let character = Self.character(code, isShifted: !shifts.isEmpty) else { break }
            // GS1 codes have the group separator, typed as Control and a bracket.
            add(controls.isEmpty ? character : character & 0x1F)
        default: break
        }
        return nil
    }

    /// A part was lost: what belongs to it is of no use.
    mutating func breakOff() {
        (bytes, isBroken, shifts, controls) = ([], true, [], [])
    }

    /// Begins anew.
    mutating func forget() { (bytes, isBroken) = ([], false) }

    private mutating func add(_ character: UInt8) {
        guard !isBroken else { return }
        guard bytes.count < maxLength else { return breakOff() }
        bytes.append(character)
    }

    private static func hold(_ keys: inout Set<UInt16>, _ code: UInt16, _ isPressed: Bool) {
        if isPressed { keys.insert(code) } else { keys.remove(code) }
    }

    private func isEnd(_ code: UInt16) -> Bool {
        switch end {
        case .enter: code == Key.enter || code == Key.keypadEnter
        case .tab: code == Key.tab
        }
    }

    /// The numbers in `linux/input-event-codes.h`.
    private enum Key {
        static let tab: UInt16 = 15
        static let enter: UInt16 = 28
        static let leftControl: UInt16 = 29
        static let leftShift: UInt16 = 42
        static let rightShift: UInt16 = 54
        static let keypadEnter: UInt16 = 96
        static let rightControl: UInt16 = 97
    }

    private static func character(_ code: UInt16, isShifted: Bool) -> UInt8? {
        guard let row = rows.first(where: { ($0.first..<$0.first + UInt16($0.plain.utf8.count)).contains(code) }) else {
            return nil
        }
        let characters = Array((isShifted ? row.shifted : row.plain).utf8)
        let character = characters[Int(code - row.first)]
        return character == 0 ? nil : character
    }

    /// Keys whose numbers follow each other; NUL is a key without a character.
    private static let rows: [(first: UInt16, plain: String, shifted: String)] = [
        (2, "1234567890-=", "!@#$%^&*()_+"),
        (16, "qwertyuiop[]", "QWERTYUIOP{}"),
        (30, "asdfghjkl;'`", "ASDFGHJKL:\"~"),
        (43, "\\zxcvbnm,./", "|ZXCVBNM<>?"),
        (57, " ", " "),
        (71, "789-456+1230.", "789-456+1230."),
        (55, "*", "*"),
        (98, "/", "/"),
        (86, "\\", "|"),
    ]
}
