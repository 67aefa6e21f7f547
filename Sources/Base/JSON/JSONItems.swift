/// Where the items of an array are in its bytes. The first four need no allocation.
@usableFromInline package struct JSONItems: Sendable {
    /// Where an item begins and ends, packed into one number.
    @usableFromInline package struct Place: Sendable {
        @usableFromInline let packed: UInt64

        @inlinable
        init(_ range: Range<Int>) {
            packed = UInt64(truncatingIfNeeded: range.lowerBound) << 32 | UInt64(truncatingIfNeeded: range.upperBound)
        }

        @inlinable package var range: Range<Int> {
            Range(uncheckedBounds: (Int(packed >> 32), Int(packed & 0xFFFF_FFFF)))
        }
    }

    /// The first four. They hold no references, so copying them is cheap.
    @usableFromInline package struct First: Sendable {
        @usableFromInline var used = 0
        @usableFromInline var places = (Place(0..<0), Place(0..<0), Place(0..<0), Place(0..<0))

        @inlinable package var count: Int { used }

        @inlinable package init() {}

        @inline(__always)
        fileprivate mutating func append(_ place: Place) {
            switch used {
            case 0: places.0 = place
            case 1: places.1 = place
            case 2: places.2 = place
            default: places.3 = place
            }
            used += 1
        }

        @inlinable package subscript(index: Int) -> Place {
            switch index {
            case 0: places.0
            case 1: places.1
            case 2: places.2
            default: places.3
            }
        }
    }

    package private(set) var first = First()
    /// Those after the fourth.
    package private(set) var others: [Place] = []

    package init() {}

    package mutating func append(_ range: Range<Int>) {
        if first.count < 4 { first.append(Place(range)) } else { others.append(Place(range)) }
    }
}
