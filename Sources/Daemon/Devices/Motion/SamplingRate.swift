import Linux

/// Chooses among the rates that a sensor offers.
struct SamplingRate {
    private enum Offer {
        case list([Double])
        /// From the first number to the second.
        case range(Double, Double)
    }

    private let offer: Offer?

    /// - Parameter available: the text of `sampling_frequency_available`: `10 50 100`, or `[minimum step maximum]`; nil
    ///   or anything else allows any rate.
    init(available: String?) {
        let text = available ?? ""
        let isRange = text.hasPrefix("[") && text.hasSuffix("]")
        let words = (isRange ? text.dropFirst().dropLast() : text[...]).split(separator: " ")
        let numbers = words.compactMap { Double(text: $0) }.filter { $0 > 0 }
        guard !numbers.isEmpty, numbers.count == words.count else {
            offer = nil
            return
        }
        if isRange {
            offer = numbers.count == 3 ? .range(numbers[0], numbers[2]) : nil
        } else {
            offer = .list(numbers.sorted())
        }
    }

    /// The lowest rate that is at least the wanted one, or else the highest.
    func choose(_ wanted: Double) -> Double {
        switch offer {
        case nil: wanted
        case .list(let rates): rates.first { $0 >= wanted } ?? rates.last ?? wanted
        case .range(let lowest, let highest): min(max(wanted, lowest), max(lowest, highest))
        }
    }

    /// Sets the rate of a sensor, if it has one that can be set.
    /// - Returns: the resulting rate; nil if the sensor does not report it.
    static func set(_ wanted: Double, in folder: SysfsFolder) -> Double? {
        let prefix = folder.has("in_accel_sampling_frequency") ? "in_accel_" : ""
        guard folder.has("\(prefix)sampling_frequency") else { return nil }
        let available = folder.text(ofFirst: [
            "\(prefix)sampling_frequency_available", "sampling_frequency_available",
        ])
        let rate = SamplingRate(available: available).choose(wanted)
        folder.writeIfPossible(text(rate), to: "\(prefix)sampling_frequency")
        return folder.number(ofFirst: ["\(prefix)sampling_frequency"]).flatMap { $0 > 0 ? $0 : nil }
    }

    /// A number in the form that the kernel reads: without an exponent, and without a point if it is whole.
    static func text(_ rate: Double) -> String {
        if let whole = Int(exactly: rate) { return "\(whole)" }
        let millionths = Int((min(rate, 1e9) * 1e6).rounded())
        let fraction = String(millionths % 1_000_000)
        return "\(millionths / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }
}
