import JSON
import QuickConnect
import TestRig
import Testing

@testable import Configuration

@Suite("Values that are bound to hardware")
struct BindingTests {
    private func table(_ text: String) throws -> MappingTable {
        let folder = try TestFolder()
        try folder.write(text, to: "a.yaml")
        let table = try MappingFiles.load([MappingFiles.Folder(folder.path, isRequired: true)]).build(
            catalog: [:],
            scripts: { HandlerCommandObject($0, handlers: .none) },
            declared: { name, _ in ValueCommandObject(name, ValueStore(EventHub(limits: Limits()))) },
            accounts: SystemAccounts()
        ).table
        try table.checkBindings()
        return table
    }

    private func mistakes(_ text: String) throws -> [String] {
        do {
            _ = try table(text)
            return []
        } catch let error as ConfigurationMistakes {
            return error.mistakes.map {
                "\($0.location.line):\($0.location.column): \($0.message.replacing("\($0.location.file):", with: ""))"
            }
        }
    }

    @Test func `are read with what they are bound to`() throws {
        let table = try table(
            """
            bell: {value: {type: boolean, gpio: {line: GPIO17, bias: pull-up, activeLow: true, debounce: 20ms}}}
            lamp: {value: {type: boolean, gpio: {line: 4, chip: pinctrl-bcm2711, output: true, drive: open-drain}, keep: true}}
            motor: {value: {type: boolean, gpio: {line: GPIO22, output: true}, default: true, lease: connection}}
            fan: {value: {type: integer, unit: "%", pwm: {chip: pwmchip0, channel: 2, frequency: 25kHz}, maximum: 50}}
            light: {value: {type: number, led: "green:power"}, set: {users: [root]}}
            switch: {value: {type: boolean, led: led0}}
            heat: {value: {type: number, unit: "°C", sensor: {chip: cpu_thermal, input: temp1}, every: 1s, step: 0.5}}
            """
        )
        var bell = GPIOBinding(.named("GPIO17"))
        (bell.bias, bell.isActiveLow, bell.debounce) = (.pullUp, true, 20_000)
        #expect(table["bell"]?.value?.binding == .gpio(bell))
        #expect(table["bell"]?.value?.isInput == true && table["bell"]?.result?.isOptional == true)
        var lamp = GPIOBinding(.numbered(chip: "pinctrl-bcm2711", 4))
        (lamp.isOutput, lamp.drive) = (true, .openDrain)
        #expect(table["lamp"]?.value?.binding == .gpio(lamp) && table["lamp"]?.value?.initial == false)
        #expect(table["motor"]?.value?.hasLease == true && table["motor"]?.value?.initial == true)
        let fan = table["fan"]?.value
        #expect(fan?.binding == .pwm(PWMBinding(chip: "pwmchip0", channel: 2, frequency: 25_000)) && fan?.unit == "%")
        #expect(fan?.parameter.minimum == 0 && fan?.parameter.maximum == 50 && fan?.initial == 0)
        #expect(table["light"]?.value?.binding == .led("green:power") && table["switch"]?.value?.initial == false)
        let heat = table["heat"]?.value
        #expect(heat?.binding == .sensor(SensorBinding(chip: "cpu_thermal", input: "temp1")))
        #expect(heat?.interval == .seconds(1) && heat?.step == 0.5 && heat?.isInput == true)
    }

    private static let wrong: [(value: String, mistake: String)] = [
        (
            "{type: boolean, gpio: {}}",
            "'gpio' needs a 'line': its name, such as GPIO17, or its number and the label of its 'chip'"
        ),
        (
            "{type: boolean, gpio: {line: 17}}",
            "'line: 17' is the number of a line on its chip, so it needs the label of the 'chip', such as {chip: pinctrl-bcm2711, line: 17}"
        ),
        (
            "{type: boolean, default: no}",
            "the default of a value must be true or false; got the string \"no\": YAML 1.2 has only true and false"
        ),
        ("{type: string, default: 1}", "the default of a value must be a string; got the number 1"),
        ("{type: boolean, gpio: {line: A, chip: B}}", "'gpio' has the name of a line, which stands without a 'chip'"),
        ("{type: boolean, gpio: {line: -1, chip: B}}", "'line' must be a name, or a whole number from 0 to 4294967295"),
        ("{type: boolean, gpio: {line: 99999999999999999999, chip: B}}", "'line' must be a name, or a whole number"),
        (
            "{type: boolean, gpio: {line: true}}",
            "'line' must be a name, or a whole number from 0 to 4294967295; got true"
        ),
        ("{type: boolean, gpio: {line: A, debounce: 0.5ms}}", "'debounce' must be at least 1ms; got"),
        (
            "{type: boolean, gpio: {line: A-line-whose-name-no-kernel-keeps}}",
            "the kernel's names of lines have at most 31 bytes"
        ),
        ("{type: boolean, gpio: GPIO17}", "'gpio' must be a mapping"),
        (
            "{type: boolean, gpio: {line: A, output: true, lease: connection}}",
            "unknown key 'lease' in 'gpio': it belongs beside 'gpio', not in it"
        ),
        ("{type: boolean, gpio: {line: A}, output: true}", "unknown key 'output' in a value: it belongs in 'gpio'"),
        ("{type: integer, max: 5}", "unknown key 'max' in a value, did you mean 'maximum'?"),
        ("{type: bool}", "unknown type 'bool', did you mean 'boolean'?; the types are string,"),
        ("{type: boolean, gpio: {line: A, bias: up}}", "'bias'"),
        ("{type: boolean, gpio: {line: A, debonce: 3ms}}", "unknown key 'debonce' in 'gpio', did you mean 'debounce'?"),
        ("{type: boolean, gpio: {line: A, debounce: 11s}}", "'debounce' is at most 10s"),
        (
            "{type: boolean, gpio: {line: A, debounce: 20}}",
            "'debounce' must be a number and a unit (ms, s, m, h, d), such as 20ms; got the number 20"
        ),
        ("{type: boolean, gpio: {line: A, output: true, debounce: 3ms}}", "'debounce' is for inputs"),
        ("{type: boolean, gpio: {line: A, output: true, bias: pull-up}}", "'bias' is for inputs"),
        ("{type: boolean, gpio: {line: A, drive: open-drain}}", "'drive' is for outputs, with 'output: true'"),
        ("{type: integer, gpio: {line: A}}", "a value with 'gpio' has the type boolean, not integer"),
        (
            "{type: boolean, gpio: {line: A}, default: true}",
            "'default' is for what can be set; this value is read from its hardware"
        ),
        ("{type: boolean, gpio: {line: A}, keep: true}", "'keep' is for what can be set"),
        ("{type: boolean, gpio: {line: A}, lease: connection}", "'lease' is for what can be set"),
        ("{type: boolean, lease: connection}", "'lease' is for outputs: 'gpio' with 'output: true', 'pwm' or 'led'"),
        ("{type: boolean, gpio: {line: A, output: true}, lease: page}", "'lease' must be connection"),
        (
            "{type: boolean, gpio: {line: A, output: true}, lease: connection, keep: true}",
            "'keep' and 'lease' exclude each other"
        ),
        ("{type: boolean, gpio: {line: A, output: true}, led: led0}", "a value is one of 'gpio' and 'led'"),
        ("{type: boolean, gpio: {line: A, output: true}, every: 1s}", "'every' is for a value with 'sensor'"),
        ("{type: boolean, gpio: {line: A, output: true}, unit: V}", "'unit' is for numbers"),
        ("{type: number, pwm: {chip: pwmchip0}}", "'pwm' needs a 'chip' and a 'channel'"),
        ("{type: number, pwm: {chip: a/b, channel: 0}}", "'chip' must be a name as 'quickconnect hardware' shows it"),
        (
            "{type: number, pwm: {chip: a, channel: 0, frequency: 25}}",
            "'frequency' must be a frequency from 1Hz to 10MHz"
        ),
        (
            "{type: number, pwm: {chip: a, channel: 0, frequency: 20MHz}}",
            "'frequency' must be a frequency from 1Hz to 10MHz"
        ),
        (
            "{type: boolean, pwm: {chip: a, channel: 0}}",
            "a value with 'pwm' has the type number or integer, not boolean"
        ),
        ("{type: string, led: led0}", "a value with 'led' has the type number or integer or boolean, not string"),
        ("{type: number, led: ..}", "'led' must be a name"),
        (
            "{type: number, led: led0, minimum: 3, maximum: 3}",
            "'minimum' and 'maximum' are off and full; they must differ"
        ),
        (
            "{type: number, pwm: {chip: a, channel: 0}, minimum: -100}",
            "'minimum' is off, so it is 0 or more; got -100."
        ),
        ("{type: number, led: led0, oneOf: [1, 2]}", "'oneOf' is not for outputs"),
        ("{type: number, sensor: {chip: a}}", "'sensor' needs a 'chip' and an 'input'"),
        ("{type: integer, sensor: {chip: a, input: temp1}}", "a value with 'sensor' has the type number, not integer"),
        ("{type: number, sensor: {chip: a, input: temp1}, every: 5ms}", "'every' is from 100ms to 1d"),
        ("{type: number, sensor: {chip: a, input: temp1}, minimum: 0}", "'minimum' is for what can be set"),
    ]

    @Test(arguments: wrong)
    func `each mistake is told with its place and what would be right`(value: String, mistake: String) throws {
        let found = try mistakes("a: {value: \(value)}\n")
        #expect(found.contains { $0.hasPrefix("1:") && $0.contains(mistake) }, "\(found)")
    }

    @Test func `an unknown type is the one mistake of a bound value`() throws {
        let found = try mistakes("a: {value: {type: bool, gpio: {line: A, output: true}}}\n")
        #expect(found.count == 1 && found[0].contains("did you mean 'boolean'?"), "\(found)")
    }

    private static let wrongEvents: [(event: String, mistake: String)] = [
        ("{reader: {}}", "'reader' needs a 'device', as 'quickconnect hardware' shows it"),
        ("{reader: usb-A-event-kbd}", "'reader' must be a mapping"),
        ("{reader: {device: usb-*}}", "'device' must be one exact name from /dev/input/by-id or by-path"),
        ("{reader: {device: /dev/input/event0}}", "'device' must be one exact name"),
        ("{reader: {device: \"\"}}", "'device' must be one exact name"),
        ("{reader: {device: a-event, ends: Return}}", "'ends'"),
        (
            "{reader: {device: a-event, last: true}}",
            "unknown key 'last' in 'reader': it belongs beside 'reader', not in it"
        ),
        ("{keys: {device: a-event}, names: {}}", "unknown key 'names' in an event: it belongs in 'keys'"),
        ("{reader: {device: a-event}, type: string}", "'type' is for events of programs"),
        ("{reader: {device: a-event}, maxLength: 0}", "'maxLength' of a reader is from 1 to 4096"),
        ("{reader: {device: a-event}, maxLength: 5000}", "'maxLength' of a reader is from 1 to 4096"),
        ("{reader: {device: a-event}, keys: {device: b-event}}", "an event is one of 'reader' and 'keys'"),
        ("{keys: {device: a-event, names: {}}}", "'names' names no key"),
        (
            "{keys: {device: a-event, names: {KEY_PLAYPAUS: play}}}",
            "the kernel knows no key 'KEY_PLAYPAUS', did you mean 'KEY_PLAYPAUSE'"
        ),
        ("{keys: {device: a-event, names: {KEY_PLAY: \"\"}}}", "the name of a key has 1 to 64 bytes"),
        ("{keys: {device: a-event}, maxLength: 3}", "'maxLength' is for events of programs"),
        ("{last: true}", "an event needs a 'type', or a 'reader' or 'keys' that it comes from"),
    ]

    @Test(arguments: wrongEvents)
    func `each mistake of an input device is told, too`(event: String, mistake: String) throws {
        let found = try mistakes("a: {event: \(event)}\n")
        #expect(found.contains { $0.hasPrefix("1:") && $0.contains(mistake) }, "\(found)")
    }

    @Test func `events of input devices are read, and a device has one`() throws {
        let table = try table(
            """
            door: {event: {reader: {device: usb-Reader-event-kbd, ends: Tab}, maxLength: 20, last: true}}
            remote: {event: {keys: {device: platform-keys-event, names: {KEY_PLAYPAUSE: play, BTN_TRIGGER: fire}}}}
            """
        )
        let door = table["door"]?.event
        #expect(door?.binding == InputBinding("usb-Reader-event-kbd", .reader(end: .tab)) && door?.keepsLast == true)
        #expect(door?.parameter.kind == .string && door?.parameter.maxLength == 20)
        let remote = table["remote"]?.event
        #expect(remote?.binding?.kind == .keys(names: [164: "play", 288: "fire"]))
        #expect(remote?.parameter.fits(["key": "fire", "pressed": true]) == true)
        #expect(remote?.parameter.fits(["key": "KEY_A", "pressed": true]) == false)
        let twice = "a: {event: {reader: {device: x-event}}}\nb: {event: {keys: {device: x-event}}}\n"
        #expect(try mistakes(twice) == ["2:1: 'b' and 'a', in 1:1, are both bound to the input device x-event"])
        let post = try mistakes("a: {event: {reader: {device: x-event}}, post: {users: [root]}}\n")
        #expect(post == ["1:1: 'a' has 'post', but programs do not post it: it comes from its input device"])
    }

    @Test func `a line is a warning whose name is nearly one of this machine`() throws {
        let table = try table(
            """
            a: {value: {type: boolean, gpio: {line: GIPO27}}}
            b: {value: {type: boolean, gpio: {line: GPIO17, output: true}}}
            c: {value: {type: boolean, gpio: {line: RELAY_IN_3}}}
            d: {value: {type: boolean, gpio: {line: 4, chip: GPIO}}}
            """
        )
        let says = "'a': no GPIO chip of this machine has the line GIPO27, did you mean 'GPIO27' or 'GPIO17'?"
        #expect(table.warningsOfLines(["GPIO17", "PWM0", "GPIO27", ""]).map(\.message) == [says])
        #expect(table.warningsOfLines([]).isEmpty)
    }

    @Test func `outputs that nobody may set are noted in one sentence`() throws {
        let lines = [
            "lamp: {value: {type: boolean, gpio: {line: A, output: true}}}",
            "fan: {value: {type: number, pwm: {chip: a, channel: 0}}, allow: {groups: [audio]}}",
            "bell: {value: {type: boolean, gpio: {line: B}}}", "count: {value: {type: integer}}",
            "light: {value: {type: number, led: led0}, set: {users: []}}",
        ]
        let note = try table(lines.joined(separator: "\n")).noteOfOutputs
        #expect(note?.location.line == 2)
        #expect(note?.message.hasPrefix("'fan', 'lamp' have no 'set', so only root and the daemon's user may") == true)
        #expect(try table(lines[2...].joined(separator: "\n")).noteOfOutputs == nil)
    }

    @Test func `an input has no rule for who sets it, and a line has one value`() throws {
        let input = try mistakes("a: {value: {type: boolean, gpio: {line: A}}, set: {users: [root]}}\n")
        #expect(input == ["1:1: 'a' has 'set', but nobody can set it: it is read from its hardware"])
        let lines =
            "a: {value: {type: boolean, gpio: {line: A}}}\nb: {value: {type: boolean, gpio: {line: A, output: true}}}\n"
        #expect(try mistakes(lines) == ["2:1: 'b' and 'a', in 1:1, are both bound to the GPIO line A"])
        // Which of the two lines would be driven, nobody sees.
        for kind in ["value: {type: boolean, gpio: {line: A#}}", "schedule: {at: \"22:00\"}"] {
            let forms = ["\u{E9}", "e\u{301}"].enumerated().map { number, name in
                "\(name): {\(kind.replacing("#", with: "\(number)"))}\n"
            }
            #expect(try mistakes(forms.joined()).map { $0.contains("in another form of Unicode") } == [true], "\(kind)")
        }
        #expect(try mistakes("\u{E9}: {value: {type: any}}\ne\u{301}: {value: {type: any}}\n") == [])
        let name = try mistakes("volumeState: {value: {type: number, led: led0}}\n")
        #expect(name.contains { $0.contains("is an event of the device itself") })
    }
}
