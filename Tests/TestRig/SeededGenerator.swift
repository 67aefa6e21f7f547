public import JSON

/// Random numbers that are the same in every run (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number from 0 to below the bound.
    public mutating func below(_ bound: Int) -> Int { Int(next() >> 33) % bound }

    public mutating func pick<Element>(_ items: [Element]) -> Element { items[below(items.count)] }

    /// A random JSON value.
    public mutating func value(depth: Int) -> JSONValue {
        switch below(depth > 0 ? 9 : 7) {
        case 0: return .null
        case 1: return .bool(below(2) == 0)
        case 2: return .integer(Int64(truncatingIfNeeded: next()))
        case 3: return .integer(Int64(below(100)))
        case 4: return .number(Double(below(1_000_000)) / 1024)
        case 5, 6: return .string(text())
        case 7: return .array((0..<below(5)).map { _ in value(depth: depth - 1) })
        default: return .object(JSONObject((0..<below(5)).map { _ in (text(), value(depth: depth - 1)) }))
        }
    }

    private mutating func text() -> String {
        let letters: [Unicode.Scalar] = [
            "a", "Z", "0", " ", "\"", "\\", "/", "\n", "\u{0}", "\u{1F}", "é", "€", "𝄞", "%", "&", "+", "=",
        ]
        return String(String.UnicodeScalarView((0..<below(8)).map { _ in pick(letters) }))
    }
}
