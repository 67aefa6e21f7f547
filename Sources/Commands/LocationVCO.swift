import JSON
import QuickConnect

/// Replies `showLoc [latitude °, longitude °, altitude m, horizontal accuracy m]`, as the book does: null where unknown.
struct LocationVCO: CommandObject {
    let phase = Phase.view

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        let position = call.results.last?.objectValue ?? [:]
        let values = ["latitude", "longitude", "altitude", "accuracy"].map { position[$0] ?? .null }
        return .reply(.array(values), under: "showLoc")
    }
}
