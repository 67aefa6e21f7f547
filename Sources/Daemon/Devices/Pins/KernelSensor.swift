internal import Linux
internal import QuickConnect

/// An input of a chip of hwmon or IIO, found by the chip's name each time: the numbers of the folders change.
struct KernelSensor: SensorInput {
    let binding: SensorBinding
    let folders: KernelPins.Folders

    func read() throws(CommandError) -> Double {
        let chips = SensorChip.all(folders)
        let named = chips.filter { $0.names.contains(binding.chip) }
        // Hwmon comes first, where it has the input.
        guard let found = named.first(where: { $0.has(binding.input) }) ?? named.first else {
            let near = NearestNames.question(binding.chip, among: Set(chips.flatMap(\.names)))
            throw .missingPart("there is no sensor chip \(binding.chip) in \(folders.hwmon) or \(folders.iio)\(near)")
        }
        let count = named.count { $0.isIIO == found.isIIO }
        guard count == 1 else { throw CommandError(.invalid, "\(count) sensor chips are named \(binding.chip)") }
        guard found.has(binding.input) else {
            let near = NearestNames.question(binding.input, among: Set(named.flatMap(\.inputs)))
            throw .missingPart("the sensor chip \(binding.chip) has no input \(binding.input)\(near)")
        }
        do throws(FileText.Problem) { return try found.read(binding.input) } catch {
            throw CommandError(.unavailable, "the sensor \(binding.chip) \(binding.input) \(error.message)")
        }
    }
}

/// A chip that the kernel reads: a folder of `/sys/class/hwmon` or `/sys/bus/iio/devices`.
struct SensorChip {
    /// Its name, and its label where it has one; never empty.
    let names: [String]
    let path: String
    let isIIO: Bool

    /// All that there are, those of hwmon first.
    static func all(_ folders: KernelPins.Folders) -> [SensorChip] {
        [(folders.hwmon, "", false), (folders.iio, "iio:device", true)].flatMap { folder, prefix, isIIO in
            (FileText.names(in: folder) ?? []).filter { $0.hasPrefix(prefix) && !$0.hasPrefix(".") }.compactMap {
                entry in
                let names = ["name", "label"].compactMap { Self.line("\(folder)/\(entry)/\($0)") }
                return names.isEmpty ? nil : SensorChip(names: names, path: "\(folder)/\(entry)", isIIO: isIIO)
            }
        }
    }

    /// The first line of a file; nil where there is none.
    static func line(_ path: String) -> String? {
        guard case .success(let text) = FileText.exact(path, maximumBytes: 4096) else { return nil }
        return String(text.prefix { !$0.isNewline })
    }

    /// The names of its inputs, in IIO without `in_`.
    var inputs: [String] {
        let all = (FileText.names(in: path) ?? []).compactMap { file -> String? in
            guard !isIIO || file.hasPrefix("in_") else { return nil }
            let end = ends.first { file.hasSuffix($0) }
            return end.map { String(file.dropFirst(isIIO ? 3 : 0).dropLast($0.count)) }
        }
        return Set(all).sorted()
    }

    func has(_ input: String) -> Bool { ends.contains { FileText.exists("\(stem(input))\($0)") } }

    /// What is written on an input; nil: nothing.
    func label(of input: String) -> String? { Self.line("\(stem(input))_label") }

    /// What an input says now, in the unit of people. Throws words that follow its name. May take a second.
    func read(_ input: String) throws(FileText.Problem) -> Double {
        let stem = stem(input)
        let divisor = quantity(of: input).divisor
        if !isIIO || FileText.exists("\(stem)_input") { return try number("\(stem)_input") / divisor }
        let raw = try number("\(stem)_raw")
        return (raw + (try shared("offset", input) ?? 0)) * (try shared("scale", input) ?? 1) / divisor
    }

    /// What an input's number counts for people, and what the kernel's is divided by for that. Of hwmon that is in m°C, mV, mA
    /// and m%RH, but µW and µJ (Documentation/hwmon/sysfs-interface); of IIO, in mW and J, and in kPa, m and lx
    /// (Documentation/ABI/testing/sysfs-bus-iio).
    func quantity(of input: String) -> (divisor: Double, unit: String) {
        switch kind(of: input) {
        case "temp": (1000, "°C")
        case "in", "voltage": (1000, "V")
        case "curr", "current": (1000, "A")
        case "humidity", "humidityrelative": (1000, "%")
        case "fan": (1, "rpm")
        case "power": (isIIO ? 1000 : 1_000_000, "W")
        case "energy": (isIIO ? 1 : 1_000_000, "J")
        case "pressure": (1, "kPa")
        case "distance": (1, "m")
        case "illuminance": (1, "lx")
        case "resistance": (1, "Ω")
        case "concentration": (1, "%")
        case "massconcentration": (1, "µg/m³")
        default: (isIIO ? 1 : 1000, "")
        }
    }

    private var ends: [String] { isIIO ? ["_input", "_raw"] : ["_input"] }

    private func channel(_ input: String) -> Substring { input.dropFirst(isIIO && input.hasPrefix("in_") ? 3 : 0) }

    private func kind(of input: String) -> Substring { channel(input).prefix(while: \.isLetter) }

    private func stem(_ input: String) -> String { "\(path)/\(isIIO ? "in_" : "")\(channel(input))" }

    /// A number of a channel alone, of all of its kind, or of all channels; nil: there is none.
    private func shared(_ what: String, _ input: String) throws(FileText.Problem) -> Double? {
        let kind = kind(of: input)
        let all = input.contains("-") ? "\(kind)-\(kind)" : "\(kind)"
        let files = [stem(input), "\(path)/in_\(all)", "\(path)/in"].map { "\($0)_\(what)" } + ["\(path)/\(what)"]
        // One that is there and fails must not pass for none.
        guard let file = files.first(where: FileText.exists) else { return nil }
        return try number(file)
    }

    private func number(_ path: String) throws(FileText.Problem) -> Double {
        let read = FileText.exact(path, maximumBytes: 4096)
        let text = try read.mapError { FileText.Problem(message: "cannot be read: \($0.message)") }.get()
        guard let number = Double(text.prefix { !$0.isWhitespace }), number.isFinite else {
            throw FileText.Problem(message: "gives no number")
        }
        return number
    }
}
