/// What of the hardware a value is: what it is read from, or written to.
public enum Binding: Sendable, Hashable {
    /// A line of a GPIO chip.
    case gpio(GPIOBinding)
    /// A channel of a chip that makes pulses.
    case pwm(PWMBinding)
    /// An LED of the kernel, by its name in `/sys/class/leds`.
    case led(String)
    /// A sensor that the kernel reads.
    case sensor(SensorBinding)

    /// Whether it can be set.
    public var isOutput: Bool {
        switch self {
        case .gpio(let gpio): gpio.isOutput
        case .pwm, .led: true
        case .sensor: false
        }
    }

    /// The key that declares it.
    public var key: String {
        switch self {
        case .gpio: "gpio"
        case .pwm: "pwm"
        case .led: "led"
        case .sensor: "sensor"
        }
    }

    /// Which part of the machine it is, in words.
    package var part: String {
        switch self {
        case .gpio(let gpio): "the GPIO line \(gpio.line)"
        case .pwm(let pwm): "channel \(pwm.channel) of \(pwm.chip)"
        case .led(let name): "the LED \(name)"
        case .sensor(let sensor): "\(sensor.input) of \(sensor.chip)"
        }
    }

    /// What may be bound to one value only; nil for what many may read.
    var exclusive: String? { if case .sensor = self { nil } else { part } }
}

/// A line of a GPIO chip, and how it is used.
public struct GPIOBinding: Sendable, Hashable {
    /// Which line it is.
    public enum Line: Sendable, Hashable, CustomStringConvertible {
        /// By the name that the kernel gives it.
        case named(String)
        /// By its chip's label, and its number there.
        case numbered(chip: String, Int)

        /// `GPIO17`, or `4 of pinctrl-bcm2711`.
        public var description: String {
            switch self {
            case .named(let name): name
            case .numbered(let chip, let offset): "\(offset) of \(chip)"
            }
        }

        /// `, did you mean 'GPIO27'?`, or an empty text if the line has no name, or no name is near.
        package func question(among names: Set<String>) -> String {
            guard case .named(let name) = self else { return "" }
            return NearestNames.question(name, among: names)
        }
    }

    /// What pulls an input that nothing drives.
    public enum Bias: String, Sendable, CaseIterable {
        case pullUp = "pull-up"
        case pullDown = "pull-down"
        case none = "none"
    }

    /// What an output drives.
    public enum Drive: String, Sendable, CaseIterable {
        case pushPull = "push-pull"
        case openDrain = "open-drain"
        case openSource = "open-source"
    }

    /// Which line it is.
    public var line: Line
    /// Whether it is driven; otherwise it is read.
    public var isOutput = false
    /// Whether it is active when its voltage is low.
    public var isActiveLow = false
    /// Of an input; nil leaves it as it is.
    public var bias: Bias?
    /// Of an output.
    public var drive = Drive.pushPull
    /// How long an input must be stable, in microseconds; 0: it is not checked.
    public var debounce = 0

    /// An input.
    public init(_ line: Line) { self.line = line }
}

/// A channel of a chip that makes pulses.
public struct PWMBinding: Sendable, Hashable {
    /// Such as `pwmchip0`.
    public var chip: String
    /// Its number on the chip.
    public var channel: Int
    /// How many pulses there are in a second.
    public var frequency: Int

    /// A channel with a frequency in hertz.
    public init(chip: String, channel: Int, frequency: Int) {
        (self.chip, self.channel, self.frequency) = (chip, channel, frequency)
    }
}

/// A sensor that the kernel reads: an input of a chip in `/sys/class/hwmon` or `/sys/bus/iio/devices`.
public struct SensorBinding: Sendable, Hashable {
    /// The chip's name there, such as `cpu_thermal`, or its label.
    public var chip: String
    /// Such as `temp1`; of IIO such as `humidityrelative`, with `in_` or without.
    public var input: String

    /// An input of a chip.
    public init(chip: String, input: String) { (self.chip, self.input) = (chip, input) }
}

extension MappingTable {
    /// Throws a mistake for each line, channel, LED and input device that two entries are bound to, and for each two bound entries
    /// or schedules that have one name in two forms of Unicode.
    public func checkBindings() throws(ConfigurationMistakes) {
        var owners: [String: Located<String>] = [:]
        var mistakes: [ConfigurationMistake] = []
        for entry in entries.sorted(by: { $0.command < $1.command }) {
            let device = entry.event?.binding.map { "the input device \($0.device)" }
            guard let part = entry.value?.binding?.exclusive ?? device, let location = entry.location else { continue }
            guard let owner = owners.updateValue(Located(entry.command, at: location), forKey: part) else { continue }
            mistakes.append(
                ConfigurationMistake(
                    "'\(entry.command)' and '\(owner.value)', in \(owner.location), are both bound to \(part)",
                    at: location
                )
            )
        }
        mistakes += twins
        guard mistakes.isEmpty else { throw ConfigurationMistakes(mistakes.sorted()) }
    }

    /// Warnings of lines that this machine does not have, and whose names are nearly those of others. Where none is near, the files
    /// may be those of another machine.
    /// - Parameter names: those of the lines of this machine.
    package func warningsOfLines(_ names: Set<String>) -> [ConfigurationMistake] {
        entries.compactMap { entry in
            guard case .gpio(let gpio)? = entry.value?.binding, case .named(let name) = gpio.line,
                !names.contains(name), let location = entry.location
            else { return nil }
            let near = gpio.line.question(among: names)
            let says = "'\(entry.command)': no GPIO chip of this machine has the line \(name)\(near)"
            return near.isEmpty ? nil : ConfigurationMistake(says, at: location)
        }
        .sorted()
    }

    /// What to say of outputs without `set`: a script that sets them works where all run as one user, and no more on a device. Nil if
    /// there are none.
    package var noteOfOutputs: ConfigurationMistake? {
        let outputs = entries.filter { entry in
            // A rule stands at its key, the one that is not written at the name.
            entry.value?.binding?.isOutput ?? false && entry.setRule.map { entry.places.contains($0.location) } ?? false
        }
        .sorted { $0.command < $1.command }
        guard let location = outputs.first?.location else { return nil }
        let names = outputs.map { "'\($0.command)'" }.joined(separator: ", ")
        let says = """
            \(names) \(outputs.count == 1 ? "has" : "have") no 'set', so only root and the daemon's user may set \
            \(outputs.count == 1 ? "it" : "them"), and no script or page of another user: beside 'value', write such as \
            set: {groups: [quickconnect, "web:home"]}
            """
        return ConfigurationMistake(says, at: location)
    }

    /// Commands are names of bytes, but nobody sees which of two lines or times such a name means.
    private var twins: [ConfigurationMistake] {
        let parts = entries.filter { entry in
            entry.value?.binding != nil || entry.event?.binding != nil || entry.schedule != nil
        }
        // Swift compares texts as a person does.
        return Dictionary(grouping: parts, by: \.command).values.filter { $0.count > 1 }.flatMap { twins in
            let places = twins.compactMap(\.location).sorted()
            return places.dropFirst().map { place in
                ConfigurationMistake(
                    "'\(twins[0].command)' is declared at \(places[0]), too, in another form of Unicode",
                    at: place
                )
            }
        }
    }
}
