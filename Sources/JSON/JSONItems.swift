/// Where the items of an array are in its bytes. The first four need no memory of their own.
package struct JSONItems: Sendable {
    /// What a scanner knows of an item: where it begins and ends, in one number.
    package struct Place: Sendable {
        private let packed: UInt64

        fileprivate init(_ range: Range<Int>) {
            packed = UInt64(truncatingIfNeeded: range.lowerBound) << 32 | UInt64(truncatingIfNeeded: range.upperBound)
        }

        package var range: Range<Int> { Range(uncheckedBounds: (Int(packed >> 32), Int(packed & 0xFFFF_FFFF))) }
    }

    /// The first four, which hold no reference: they can be copied for nothing.
    package struct First: Sendable {
        package fileprivate(set) var count = 0
        private var places = (Place(0..<0), Place(0..<0), Place(0..<0), Place(0..<0))

        package init() {}

        @inline(__always)
        fileprivate mutating func append(_ place: Place) {
            switch count {
            case 0: places.0 = place
            case 1: places.1 = place
            case 2: places.2 = place
            default: places.3 = place
            }
            count += 1
        }

        package subscript(index: Int) -> Place {
            switch index {
            case 0: places.0
            case 1: places.1
            case 2: places.2
            default: places.3
            }
        }
    }

    package private(set) var first = First()
    /// Those behind the fourth.
    package private(set) var others: [Place] = []

    package init() {}

    package mutating func append(_ range: Range<Int>) {
        if first.count < 4 { first.append(Place(range)) } else { others.append(Place(range)) }
    }
}
