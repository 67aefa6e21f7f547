/// What somebody has counted in a ``Budget`` for what it keeps. It counts in steps, so that the small and short things,
/// which are most, cost nothing.
package struct Charge: Sendable {
    /// What is counted now: 0, or at least a step.
    package private(set) var counted = 0
    private let step: Int

    /// Nothing is counted yet; amounts below `step` never are.
    package init(step: Int) { self.step = step }

    /// What to add to the budget now that `amount` is kept; nil if that has changed too little.
    @inline(__always)
    package mutating func change(to amount: Int) -> Int? {
        // What is less than a step could not be taken off any more.
        let amount = amount < step ? 0 : amount
        guard amount >= counted + step || amount + step <= counted else { return nil }
        defer { counted = amount }
        return amount - counted
    }
}
