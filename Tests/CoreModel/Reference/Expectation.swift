/// What a step must do: things in their order, and things in any order, each of which may be several in their own.
struct Expectation: Sendable {
    private enum Segment: Sendable {
        case inOrder([String])
        case inAnyOrder([[String]])
    }

    /// The last of a connection's, whichever of a bag that is.
    private struct Last: Sendable {
        var text: String
        /// How what must not come behind it begins.
        var others: String
    }

    private var segments: [Segment] = []
    private var isInBag = false
    /// Those of each bag, by the place of its segment.
    private var lasts: [Int: [Last]] = [:]

    mutating func add(_ text: String) {
        switch segments.popLast() {
        case .inAnyOrder(var chains) where isInBag:
            chains[chains.count - 1].append(text)
            segments.append(.inAnyOrder(chains))
        case .inOrder(let texts): segments.append(.inOrder(texts + [text]))
        case let other:
            if let other { segments.append(other) }
            segments.append(.inOrder([text]))
        }
    }

    /// Adds what must come behind all lines that begin so.
    mutating func add(_ text: String, behindAll others: String) {
        guard isInBag else { return add(text) }
        lasts[segments.count - 1, default: []].append(Last(text: text, others: others))
    }

    /// What `body` adds may come before or after what others of the same bag add.
    mutating func beginBag() {
        isInBag = true
        segments.append(.inAnyOrder([]))
    }

    mutating func beginChain() {
        guard isInBag, case .inAnyOrder(let chains) = segments.popLast() else { return }
        segments.append(.inAnyOrder(chains + [[]]))
    }

    mutating func endBag() { isInBag = false }

    /// What is wrong with what was done; nil where nothing is.
    func mistake(in done: [String]) -> String? {
        var rest = done[...]
        for (index, segment) in segments.enumerated() {
            switch segment {
            case .inOrder(let texts):
                for text in texts where rest.popFirst() != text { return mistake(text, done) }
            case .inAnyOrder(let chains):
                var chains = chains.filter { !$0.isEmpty }
                let lasts = lasts[index] ?? []
                let count = chains.joined().count + lasts.count
                var bag = Array(rest.prefix(count))
                for last in lasts where !Self.take(last, from: &bag) { return mistake(last.text, done) }
                rest = bag + rest.dropFirst(count)
                while !chains.isEmpty {
                    guard let next = chains.firstIndex(where: { rest.starts(with: $0) }) else {
                        return mistake(chains.map { $0.joined(separator: "; ") }.joined(separator: "\n    or "), done)
                    }
                    rest = rest.dropFirst(chains.remove(at: next).count)
                }
            }
        }
        return rest.first.map { "it did too much: \($0)\n  all that it did:\n\(Self.list(done))" }
    }

    private static func take(_ last: Last, from bag: inout [String]) -> Bool {
        guard let index = bag.firstIndex(of: last.text) else { return false }
        bag.remove(at: index)
        return !bag[index...].contains { $0.hasPrefix(last.others) }
    }

    private func mistake(_ text: String, _ done: [String]) -> String {
        "the model expects: \(text)\n  what it did:\n\(Self.list(done))\n  what it should have done:\n\(description)"
    }

    private static func list(_ texts: [String]) -> String { texts.map { "    \($0)" }.joined(separator: "\n") }

    private var description: String {
        segments.enumerated().map { index, segment in
            switch segment {
            case .inOrder(let texts): return Self.list(texts)
            case .inAnyOrder(let chains):
                let texts = chains.filter { !$0.isEmpty }.map { "- " + $0.joined(separator: "; ") }
                let lasts = (lasts[index] ?? []).map { "- \($0.text), behind all others" }
                return texts.isEmpty ? "" : "    in any order:\n" + Self.list(texts + lasts)
            }
        }.filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
