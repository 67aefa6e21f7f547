/// Three numbers, along x, y and z.
typealias Vector = SIMD3<Double>

/// How a sensor is mounted: its values times this matrix are along the axes of the device.
package struct Matrix: Sendable, Hashable {
    let rows: [Vector]

    static let identity = Matrix(rows: [[1, 0, 0], [0, 1, 0], [0, 0, 1]])

    init(rows: [Vector]) { self.rows = rows }

    /// - Parameter rows: three rows of three finite numbers; nil if they are something else, or all 0.
    package init?(_ rows: [[Double]]) {
        guard rows.count == 3, rows.allSatisfy({ $0.count == 3 && $0.allSatisfy(\.isFinite) }) else { return nil }
        guard rows.contains(where: { $0.contains { $0 != 0 } }) else { return nil }
        self.rows = rows.map { Vector($0) }
    }

    /// As the kernel writes it: `0, 1, 0; -1, 0, 0; 0, 0, 1`.
    init?(text: String) {
        let rows = text.split(separator: ";", omittingEmptySubsequences: false).map { row in
            row.split(separator: ",", omittingEmptySubsequences: false).map { Double(text: $0) ?? .nan }
        }
        self.init(rows)
    }

    static func * (matrix: Matrix, vector: Vector) -> Vector {
        Vector(matrix.rows.map { ($0 * vector).sum() })
    }

    /// Applies the right matrix first, then the left one.
    static func * (second: Matrix, first: Matrix) -> Matrix {
        let columns = (0..<3).map { column in second * Vector(first.rows.map { $0[column] }) }
        return Matrix(rows: (0..<3).map { row in Vector(columns.map { $0[row] }) })
    }
}

extension Double {
    /// A finite number with white space around it.
    init?(text: some StringProtocol) {
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) }
        guard let end, let start = text.firstIndex(where: { !$0.isWhitespace }) else { return nil }
        guard let value = Double(text[start..<end]), value.isFinite else { return nil }
        self = value
    }
}
