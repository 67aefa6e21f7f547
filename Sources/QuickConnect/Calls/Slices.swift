/// Where the items of a message are in its bytes. The first four need no memory of their own.
struct Slices: Sendable {
    private(set) var count = 0
    private var first: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    private var others: [UInt64] = []

    mutating func append(_ range: Range<Int>) {
        let packed = UInt64(truncatingIfNeeded: range.lowerBound) << 32 | UInt64(truncatingIfNeeded: range.upperBound)
        switch count {
        case 0: first.0 = packed
        case 1: first.1 = packed
        case 2: first.2 = packed
        case 3: first.3 = packed
        default: others.append(packed)
        }
        count += 1
    }

    subscript(index: Int) -> Range<Int> {
        let packed =
            switch index {
            case 0: first.0
            case 1: first.1
            case 2: first.2
            case 3: first.3
            default: others[index - 4]
            }
        return Int(packed >> 32)..<Int(packed & 0xFFFF_FFFF)
    }
}
