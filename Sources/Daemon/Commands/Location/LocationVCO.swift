import JSON
import QuickConnect

/// Replies `showLoc [latitude °, longitude °, altitude m, horizontal accuracy m]`, as in the book: null if unknown.
struct LocationVCO: VCO {
    func show(_ call: borrowing Call) throws(CommandError) -> ViewOutcome {
        let position = call.results.last?.value.objectValue ?? [:]
        let values = ["latitude", "longitude", "altitude", "accuracy"].map { position[$0] ?? .null }
        return .reply(.array(values), under: "showLoc")
    }
}
