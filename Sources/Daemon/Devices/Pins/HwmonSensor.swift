internal import Glibc
internal import Linux
internal import QuickConnect

/// An input of a chip in `/sys/class/hwmon`, found by the chip's name each time: the numbers of the folders change.
struct HwmonSensor: SensorInput {
    let binding: SensorBinding
    let folder: String

    func read() throws(CommandError) -> Double {
        let chips = Self.chips(in: folder).filter { $0.name == binding.chip }
        guard let chip = chips.first else {
            throw .missingPart("there is no sensor chip \(binding.chip) in \(folder)")
        }
        guard chips.count == 1 else {
            throw CommandError(.invalid, "\(chips.count) sensor chips are named \(binding.chip)")
        }
        let path = "\(chip.path)/\(binding.input)_input"
        switch FileText.exact(path, maximumBytes: 4096) {
        case .failure(let problem):
            throw CommandError(
                .unavailable,
                "the sensor \(binding.chip) \(binding.input) cannot be read: \(problem.message)"
            )
        case .success(let text):
            guard let number = Double(text.prefix { !$0.isWhitespace }) else {
                throw CommandError(.unavailable, "the sensor \(binding.chip) \(binding.input) gives no number")
            }
            return number / Self.divisor(of: binding.input)
        }
    }

    /// All chips: their names and folders.
    static func chips(in folder: String) -> [(name: String, path: String)] {
        (FileText.names(in: folder) ?? []).filter { !$0.hasPrefix(".") }.sorted().compactMap { entry in
            guard case .success(let text) = FileText.exact("\(folder)/\(entry)/name", maximumBytes: 4096) else {
                return nil
            }
            return (String(text.prefix { !$0.isNewline }), "\(folder)/\(entry)")
        }
    }

    /// The kernel counts m°C, mV, mA and m%RH, but µW and µJ, and revolutions a minute (Documentation/hwmon/sysfs-interface).
    static func divisor(of input: String) -> Double {
        switch input.prefix(while: \.isLetter) {
        case "fan": 1
        case "power", "energy": 1_000_000
        default: 1000
        }
    }

    /// What an input's number counts then.
    static func unit(of input: String) -> String {
        switch input.prefix(while: \.isLetter) {
        case "temp": "°C"
        case "in": "V"
        case "curr": "A"
        case "humidity": "%"
        case "fan": "rpm"
        case "power": "W"
        case "energy": "J"
        default: ""
        }
    }
}
