import JSON
import QuickConnect

/// Replies `showPickResults [text, …]`, as in the book: with the answer of the picker before it, or with what the
/// caller sent.
struct PickResultsVCO: VCO {
    func show(_ call: borrowing Call) throws(CommandError) -> ViewOutcome {
        .reply(.array(Self.results(of: call)), under: "showPickResults")
    }

    private static func results(of call: borrowing Call) -> [JSONValue] {
        guard let answer = call.results.last?.value else {
            var sent: [JSONValue] = []
            for index in 0..<call.argumentCount { sent.append(call.argument(index).value) }
            return sent
        }
        // The page expects the text as the first item.
        return answer.arrayValue ?? [answer]
    }
}
