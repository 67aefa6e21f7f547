import JSON
import QuickConnect

/// `dice [sides]`: a number from 1 to `sides`, as `{"sides", "shows"}`. The example of docs/native-commands.md.
struct DiceBCO: BCO {
    private let roll: @Sendable (ClosedRange<Int64>) -> Int64

    init(roll: @escaping @Sendable (ClosedRange<Int64>) -> Int64 = { .random(in: $0) }) { self.roll = roll }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        let sides = call.integer(0) ?? 6
        guard sides >= 2 else { throw .invalid("/0", expected: "sides, an integer of at least 2") }
        guard sides <= 100 else {
            throw CommandError(.unsupported, "no dice has \(sides) sides", details: ["largest": 100])
        }
        return .result(["sides": .integer(sides), "shows": .integer(roll(1...sides))])
    }
}
