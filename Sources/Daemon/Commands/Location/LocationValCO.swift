import QuickConnect

/// Checks the options of `location`: `{maximumAge, timeout, enableHighAccuracy}`.
struct LocationValCO: ValCO {
    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        .handOn(try PositionWish(call))
    }
}
