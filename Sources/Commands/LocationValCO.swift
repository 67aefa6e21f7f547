import QuickConnect

/// Checks the options of `location`: `{maximumAge, timeout, enableHighAccuracy}`.
struct LocationValCO: CommandObject {
    let phase = Phase.validation

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        _ = try PositionWish(call)
        return .proceed
    }
}
