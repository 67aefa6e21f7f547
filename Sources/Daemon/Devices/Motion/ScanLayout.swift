/// The position of each value in a sample of a buffer, as the kernel lays it out: the enabled elements in the order of
/// their indices, each aligned to its own size, and the whole sample to the largest of them.
struct ScanLayout: Sendable {
    private let axes: [Place]
    private let time: Place?
    /// The size of a sample in bytes.
    let size: Int

    private struct Place: Sendable {
        var offset: Int
        var type: ScanType
    }

    static let axisNames = ["in_accel_x", "in_accel_y", "in_accel_z"]
    static let timeName = "in_timestamp"

    /// Larger than any real sample.
    private static let largest = 4096

    /// - Returns: nil if an axis is missing, or the layout is not possible.
    init?(_ elements: [ScanElement]) {
        var places: [String: Place] = [:]
        var (offset, largest) = (0, 1)
        for element in elements.sorted(by: { $0.index < $1.index }) {
            let size = element.type.size
            offset = Self.aligned(offset, to: size)
            places[element.name] = Place(offset: offset, type: element.type)
            offset += size
            largest = max(largest, size)
            guard offset <= Self.largest else { return nil }
        }
        axes = Self.axisNames.compactMap { places[$0] }
        guard axes.count == 3 else { return nil }
        time = places[Self.timeName]
        size = Self.aligned(offset, to: largest)
    }

    private static func aligned(_ offset: Int, to size: Int) -> Int { (offset + size - 1) / size * size }

    /// The raw values of a sample, which must have ``size`` bytes, and its time in nanoseconds, if it has one.
    func sample(_ bytes: ArraySlice<UInt8>) -> (raw: Vector, nanoseconds: Int64?) {
        let values = axes.map { Double($0.type.value(of: bytes.dropFirst($0.offset))) }
        return (Vector(values), time.map { $0.type.value(of: bytes.dropFirst($0.offset)) })
    }
}
