/// Finds the names that somebody may have meant.
public enum NearestNames {
    /// At most three of the candidates, nearest first: at most a third of the name's letters (and at least one)
    /// added, left out, changed or swapped with a neighbour, without regard to case.
    public static func find(_ name: String, among candidates: some Sequence<String>) -> [String] {
        let wanted = Array(name.lowercased().unicodeScalars)
        let allowed = max(1, wanted.count / 3)
        guard wanted.count <= 64 else { return [] }
        let near = candidates.compactMap { candidate -> (distance: Int, name: String)? in
            let letters = Array(candidate.lowercased().unicodeScalars)
            guard abs(letters.count - wanted.count) <= allowed else { return nil }
            let distance = editDistance(wanted, letters)
            return distance <= allowed ? (distance, candidate) : nil
        }
        return near.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
    }

    /// `, did you mean 'loc'?`, or nothing where no name is near.
    public static func question(_ name: String, among candidates: some Sequence<String>) -> String {
        let near = find(name, among: candidates).map { "'\($0)'" }
        return near.isEmpty ? "" : ", did you mean \(near.joined(separator: " or "))?"
    }

    /// The optimal string alignment distance: insertions, deletions, changes, swaps of neighbours.
    private static func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, beforeLast[j - 1] + 1) }
                row.append(best)
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
