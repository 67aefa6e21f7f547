import JSON
import QuickConnect

/// The keys of a GPIO line, as they are read.
struct GPIODraft {
    var chip: String?
    var line: String?
    var offset: Int?
    /// Whether its line is a mistake that has been told.
    var isWrong = false
    var gpio = GPIOBinding(.named(""))

    static let keys: [FileKey<GPIODraft>] = [
        FileKey("chip", \.chip) { $0.string($1, $2) },
        FileKey("line") { file, node, draft in
            draft.offset = node.text.flatMap { UInt32($0) }.map(Int.init)
            guard draft.offset == nil else { return }
            draft.line = node.isNull ? nil : node.json?.stringValue
            guard draft.line == nil else { return }
            file.mistake("'line' must be a name, or a whole number from 0 to \(UInt32.max)", got: node)
            draft.isWrong = true
        },
        FileKey("output", \.gpio.isOutput) { $0.bool($1, $2) },
        FileKey("activeLow", \.gpio.isActiveLow) { $0.bool($1, $2) },
        FileKey("bias", \.gpio.bias) { $0.choice($1, $2) },
        FileKey("drive", \.gpio.drive) { $0.choice($1, $2) },
        FileKey("debounce", \.gpio.debounce) { $0.microseconds($1, $2) },
    ]

    var place: GPIOBinding.Line? {
        guard let offset else { return line.flatMap { $0.isEmpty || chip != nil ? nil : .named($0) } }
        return chip.flatMap { $0.isEmpty ? nil : .numbered(chip: $0, offset) }
    }
}

extension PWMBinding {
    static let keys: [FileKey<PWMBinding>] = [
        FileKey("chip", \.chip) { $0.fileName($1, $2) },
        FileKey("channel", \.channel) { $0.integer($1, $2, in: 0...1023) },
        FileKey("frequency", \.frequency) { $0.frequency($1, $2) },
    ]
}

extension SensorBinding {
    static let keys: [FileKey<SensorBinding>] = [
        FileKey("chip", \.chip) { $0.fileName($1, $2) },
        FileKey("input", \.input) { $0.fileName($1, $2) },
    ]
}

extension YAMLFile {
    /// `{line: GPIO17, bias: pull-up}`.
    mutating func gpio(_ node: YAMLNode, _: String) -> Binding? {
        var draft = GPIODraft()
        let names = read(node, of: "'gpio'", GPIODraft.keys, into: &draft, section: "gpio")
        guard !draft.isWrong else { return nil }
        guard let line = draft.place else {
            var says = "'gpio' needs a 'line': its name, such as GPIO17, or its number and the label of its 'chip'"
            if draft.line != nil, draft.chip != nil {
                says = "'gpio' has the name of a line, which stands without a 'chip'"
            } else if let offset = draft.offset {
                says = """
                    'line: \(offset)' is the number of a line on its chip, so it needs the label of the 'chip', such as {chip: pinctrl-bcm2711, \
                    line: \(offset)}; or write its name, such as GPIO17. «quickconnect hardware» shows both
                    """
            }
            mistake(says, at: node)
            return nil
        }
        if case .named(let name) = line, name.utf8.count > 31 {
            mistake("the kernel's names of lines have at most 31 bytes", at: node)
        }
        draft.gpio.line = line
        let others = draft.gpio.isOutput ? ["bias", "debounce"] : ["drive"]
        for name in others where names.contains(name) {
            mistake("'\(name)' is for \(draft.gpio.isOutput ? "inputs" : "outputs, with 'output: true'")", at: node)
        }
        return .gpio(draft.gpio)
    }

    /// `{chip: pwmchip0, channel: 0, frequency: 25kHz}`.
    mutating func pwm(_ node: YAMLNode, _: String) -> Binding? {
        var pwm = PWMBinding(chip: "", channel: 0, frequency: 1000)
        guard read(node, of: "'pwm'", PWMBinding.keys, into: &pwm, section: "pwm").isSuperset(of: ["chip", "channel"])
        else {
            mistake("'pwm' needs a 'chip' and a 'channel', such as {chip: pwmchip0, channel: 0}", at: node)
            return nil
        }
        return .pwm(pwm)
    }

    /// The name of an LED.
    mutating func led(_ node: YAMLNode, _ what: String) -> Binding? { fileName(node, what).map { .led($0) } }

    /// `{chip: cpu_thermal, input: temp1}`.
    mutating func sensor(_ node: YAMLNode, _: String) -> Binding? {
        var sensor = SensorBinding(chip: "", input: "")
        guard read(node, of: "'sensor'", SensorBinding.keys, into: &sensor, section: "sensor").count == 2 else {
            mistake("'sensor' needs a 'chip' and an 'input', such as {chip: cpu_thermal, input: temp1}", at: node)
            return nil
        }
        return .sensor(sensor)
    }

    /// The name of a file of sysfs, which must not lead elsewhere.
    fileprivate mutating func fileName(_ node: YAMLNode, _ what: String) -> String? {
        guard let name = string(node, what) else { return nil }
        guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), !name.contains("\0"), name.utf8.count < 256
        else {
            mistake("\(what) must be a name as 'quickconnect hardware' shows it", got: node)
            return nil
        }
        return name
    }

    fileprivate mutating func microseconds(_ node: YAMLNode, _ what: String) -> Int? {
        guard let duration = duration(node, what, suchAs: "20ms") else { return nil }
        guard duration <= .seconds(10) else {
            mistake("\(what) is at most 10s", got: node)
            return nil
        }
        return Int(duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000)
    }

    fileprivate mutating func frequency(_ node: YAMLNode, _ what: String) -> Int? {
        let text = node.text ?? ""
        for (unit, factor) in [("MHz", 1e6), ("kHz", 1e3), ("Hz", 1)] where text.hasSuffix(unit) {
            let number = Double(text.dropLast(unit.count)).map { ($0 * factor).rounded() } ?? 0
            if (1...10e6).contains(number) { return Int(number) }
            break
        }
        mistake("\(what) must be a frequency from 1Hz to 10MHz, such as 50Hz or 25kHz", got: node)
        return nil
    }

    /// `lease: connection`.
    mutating func lease(_ node: YAMLNode, _ what: String) -> Bool? {
        guard string(node, what) == "connection" else {
            mistake("\(what) must be connection: the output returns to its default when that ends", got: node)
            return nil
        }
        return true
    }

    /// By how much a sensor's number must change.
    mutating func step(_ node: YAMLNode, _ what: String) -> Double? {
        guard let step = number(node, what) else { return nil }
        guard step >= 0 else {
            mistake("\(what) must not be negative", got: node)
            return nil
        }
        return step
    }

    /// How often a sensor is read.
    mutating func interval(ofSensor node: YAMLNode, _ what: String) -> Duration? {
        guard let duration = duration(node, what) else { return nil }
        guard (.milliseconds(100) ... .seconds(86_400)).contains(duration) else {
            mistake("\(what) is from 100ms to 1d", got: node)
            return nil
        }
        return duration
    }

    /// Completes a value that is bound, and reports what does not fit to its hardware.
    /// - Parameter names: the keys that it has.
    mutating func checkBinding(_ value: inout ValueDeclaration, _ names: Set<String>, _ node: YAMLNode) {
        let bindings = ["gpio", "pwm", "led", "sensor"].filter(names.contains)
        if bindings.count > 1 {
            mistake("a value is one of '\(bindings.joined(separator: "' and '"))'", at: node)
        }
        if value.unit != nil, ![.integer, .number].contains(value.parameter.kind) {
            mistake("'unit' is for numbers", at: node)
        }
        for name in ["every", "step"] where names.contains(name) && !names.contains("sensor") {
            mistake("'\(name)' is for a value with 'sensor'", at: node)
        }
        guard let binding = value.binding else {
            if value.hasLease {
                mistake("'lease' is for outputs: 'gpio' with 'output: true', 'pwm' or 'led'", at: node)
            }
            return
        }
        // A type that cannot be read is told already.
        let type = node.mapping?.first { $0.key.text == "type" }?.value.text
        guard value.parameter.kind.rawValue == type else { return }
        checkType(value.parameter.kind, of: binding, node)
        if binding.isOutput {
            completeOutput(&value, binding, hasDefault: names.contains("default"), node)
        } else {
            for name in ["default", "keep", "lease", "clamp", "minimum", "maximum", "oneOf"] where names.contains(name)
            {
                mistake("'\(name)' is for what can be set; this value is read from its hardware", at: node)
            }
        }
    }

    private mutating func checkType(_ kind: Parameter.Kind, of binding: Binding, _ node: YAMLNode) {
        let kinds: [Parameter.Kind] =
            switch binding {
            case .gpio: [.boolean]
            case .pwm: [.number, .integer]
            case .led: [.number, .integer, .boolean]
            case .sensor: [.number]
            }
        guard !kinds.contains(kind) else { return }
        let names = kinds.map(\.rawValue).joined(separator: " or ")
        mistake("a value with '\(binding.key)' has the type \(names), not \(kind.rawValue)", at: node)
    }

    private mutating func completeOutput(
        _ value: inout ValueDeclaration,
        _ binding: Binding,
        hasDefault: Bool,
        _ node: YAMLNode
    ) {
        if value.keeps, value.hasLease {
            mistake("'keep' and 'lease' exclude each other: a lease ends with its connection", at: node)
        }
        if value.parameter.oneOf != nil { mistake("'oneOf' is not for outputs", at: node) }
        if value.parameter.kind != .boolean {
            value.parameter.minimum = value.parameter.minimum ?? 0
            value.parameter.maximum = value.parameter.maximum ?? 100
            if let minimum = value.parameter.minimum, minimum < 0 {
                mistake(
                    "'minimum' is off, so it is 0 or more; got \(JSONValue.shortest(minimum).text). A direction is a line of its own, with 'gpio'",
                    at: node
                )
            }
            let span = (value.parameter.maximum ?? 0) - (value.parameter.minimum ?? 0)
            if span == 0 || !span.isFinite {
                mistake(
                    "'minimum' and 'maximum' are off and full; they must differ, and be no further apart than numbers go",
                    at: node
                )
            }
        }
        guard !hasDefault else { return }
        value.initial = value.parameter.kind == .boolean ? .bool(false) : .shortest(value.parameter.minimum ?? 0)
    }
}
