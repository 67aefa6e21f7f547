import JSON
import QuickConnect

/// Checks the options of `location`: `{maximumAge, timeout, enableHighAccuracy}`.
struct LocationValCO: ValCO {
    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        .handOn(try PositionWish(call))
    }
}

/// Waits for a position, and returns it with the names of the W3C's Geolocation API. The options are the W3C's:
/// `{maximumAge, timeout, enableHighAccuracy}`, times in milliseconds.
struct LocationBCO: WaitingBCO {
    let touchesDevice = true
    let provider: any LocationProvider
    /// The time in seconds since 1970.
    let now: @Sendable () -> Double

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        let wish = try call.handedOn(or: PositionWish.init)
        let caller = call.caller
        return .wait { () async throws(CommandError) in
            let position = try await provider.position(wish, for: caller)
            return .result(.object(position.json(at: now())))
        }
    }
}

extension PositionWish {
    /// The options in the parameters `[options]`; the defaults if there are none.
    init(_ call: borrowing Call) throws(CommandError) {
        var options = try OptionReader(call, 0, known: ["maximumAge", "timeout", "enableHighAccuracy"])
        let isAnyAge = options.isNull("maximumAge")
        let maximumAge = options.number("maximumAge", in: 0...1e15, "milliseconds, or null") ?? 0
        self.init(
            maximumAge: isAnyAge ? .infinity : maximumAge / 1000,
            timeout: (options.number("timeout", in: 0...86_400_000, "milliseconds") ?? Self.defaultTimeout * 1000)
                / 1000,
            needsAltitude: options.boolean("enableHighAccuracy") ?? false
        )
        try options.finish()
    }
}

/// Replies `showLoc [latitude °, longitude °, altitude m, horizontal accuracy m]`, as in the book: null if unknown.
struct LocationVCO: VCO {
    func show(_ call: borrowing Call) throws(CommandError) -> ViewOutcome {
        let position = call.results.last?.value.objectValue ?? [:]
        let values = ["latitude", "longitude", "altitude", "accuracy"].map { position[$0] ?? .null }
        return .reply(.array(values), under: "showLoc")
    }
}
