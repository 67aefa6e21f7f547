import Concurrency
import JSON
import QuickConnect

/// Checks the pattern of `vibrate`: milliseconds, of one vibration or of alternating vibrations and pauses.
struct VibrateValCO: ValCO {
    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        .handOn(try VibrationPattern(call))
    }
}

extension VibrationPattern {
    /// The pattern is either all parameters or a single one that is an array. No parameters mean an empty pattern. Only
    /// as many entries are read as a pattern may have.
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
                return index < Self.maxEntries
            }
        } else if !isOne || !call.argument(0).isNull {
            for index in 0..<min(Self.maxEntries, call.argumentCount) { read(call.argument(index), "/\(index)") }
        }
        guard problems.isEmpty else { throw problems.error }
        self.init(entries)
    }

    /// Whole milliseconds, converted from a number as in Web IDL; the exact value of one that is too long does not
    /// matter.
    private static func entry(_ message: Message) -> Int? {
        // A number with more digits is not meaningful, and slow to read.
        guard case .text(let text) = message, text.count <= 1024, let number = text.numberValue, number >= 0 else {
            return nil
        }
        return Int(min(number, Double(maxEntry)))
    }
}

/// `vibrate [milliseconds, …]`: plays the pattern on the device's motor, and replies when it is over. `0` and an empty
/// pattern end the vibration that the caller's user has started. A vibration ends with its call, and so with its
/// connection.
struct VibrateVCO: WaitingVCO {
    let touchesDevice = true
    let haptics: any Haptics
    let permissions: Permissions

    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> {
        let pattern = try call.handedOn(or: VibrationPattern.init)
        guard !pattern.isEmpty else {
            haptics.stop(mayEnd: permissions.mayEnd(call.caller))
            return .now(.proceed)
        }
        return haptics.outcome(of: pattern, for: call.caller)
    }
}

extension Haptics {
    /// What a command object awaits while the device vibrates.
    func outcome(of pattern: VibrationPattern, for caller: Caller) -> Awaited<ViewOutcome> {
        let vibration = vibrate(pattern, for: caller)
        let outcome = Promise<ViewOutcome>()
        vibration.whenSettled { outcome.settle($0.map { .proceed }) }
        return .promise(outcome, onCancel: { end(vibration) })
    }
}
