import JSON
import QuickConnect

/// Checks the pattern of `vibrate`: milliseconds, of one vibration or of vibrations and pauses by turns.
struct VibrateValCO: ValCO {
    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        .handOn(try VibrationPattern(call))
    }
}

extension VibrationPattern {
    /// The parameters are the pattern, or there is one, an array, which is. Nothing at all is an empty pattern. Of what
    /// is longer than a pattern may be, only as much is read.
    init(_ call: borrowing Call) throws(CommandError) {
        var problems = FieldProblems()
        var entries: [Int] = []
        func read(_ message: Message, _ field: @autoclosure () -> String) {
            if let entry = Self.entry(message) { return entries.append(entry) }
            problems.add(field(), expected: "milliseconds, a number of at least 0", got: message.gist)
        }
        let isOne = call.argumentCount == 1
        if isOne, case .text(let text) = call.argument(0), text.kind == .array {
            var index = 0
            text.forEachItem { item in
                read(.text(item), "/0/\(index)")
                index += 1
                return index < Self.mostEntries
            }
        } else if !isOne || !call.argument(0).isNull {
            for index in 0..<min(Self.mostEntries, call.argumentCount) { read(call.argument(index), "/\(index)") }
        }
        guard problems.isEmpty else { throw problems.error }
        self.init(entries)
    }

    /// Whole milliseconds, as Web IDL makes them of a number; what is too long anyway may be any.
    private static func entry(_ message: Message) -> Int? {
        // A number with more digits means nothing, and takes long to read.
        guard case .text(let text) = message, text.count <= 1024, let number = text.numberValue, number >= 0 else {
            return nil
        }
        return Int(min(number, Double(longestEntry)))
    }
}
