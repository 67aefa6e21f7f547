extension Duration {
    /// `500ms`, `30s`, `2m`, `1h` or `90d`: a whole or decimal number and a unit.
    package init?(text: String) {
        let units: [(suffix: String, seconds: Double)] = [
            ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400),
        ]
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let number = text.dropLast(unit.suffix.count)
        guard number.allSatisfy({ ($0.isASCII && $0.isNumber) || $0 == "." }), let value = Double(number),
            value * unit.seconds <= 3660 * 24 * 3600
        else { return nil }
        let milliseconds = value * unit.seconds * 1000
        // Less is no time at all, and would end each call at once.
        guard milliseconds >= 1 else { return nil }
        self = .milliseconds(Int64(milliseconds.rounded()))
    }

    /// The duration in seconds.
    package var seconds: Double { self / .seconds(1) }
}
