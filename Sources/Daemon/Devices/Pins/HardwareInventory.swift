internal import Concurrency
internal import Glibc
package import JSON
internal import Linux
internal import QuickConnect

/// What this machine has that values can be bound to.
package final class HardwareInventory: Sendable {
    private let folders: KernelPins.Folders
    private let inputs: @Sendable () -> [String]
    private let thread = SideThread<Void>("qc-lookup", wake: {})

    /// - Parameter inputs: the names of input devices. Blocks.
    package init(_ folders: KernelPins.Folders = KernelPins.Folders(), inputs: @escaping @Sendable () -> [String]) {
        (self.folders, self.inputs) = (folders, inputs)
    }

    /// Looks now, on a thread that may block.
    package func look() async -> JSONValue {
        let found = Promise<JSONValue>()
        thread.run(for: "") { [folders, inputs] in found.fulfil(Self.look(folders, inputs())) }
        return (try? await found.value()) ?? .null
    }

    /// `{"gpio": [{"chip", "line", "name", "consumer"}], "leds": [{"name", "max"}], "pwm": [{"chip", "channels"}], "sensors":
    /// [{"chip", "input", "label", "value", "unit"}], "inputs": [name], "refused": [{"path", "message"}]}`. `name` is null where the kernel
    /// has none, `consumer` where the line is free.
    static func look(_ folders: KernelPins.Folders, _ inputs: [String] = []) -> JSONValue {
        let (lines, refusals) = GPIOChips(folder: folders.devices).all()
        let gpio = lines.map { line -> JSONValue in
            [
                "chip": .string(line.chip), "line": .integer(Int64(line.offset)),
                "name": line.name.isEmpty ? .null : .string(line.name),
                "consumer": line.consumer.map { .string($0) } ?? .null,
            ]
        }
        let refused = refusals.map { refusal -> JSONValue in
            ["path": .string(refusal.path), "message": .string(refusal.error.description)]
        }
        return [
            "gpio": .array(gpio), "leds": .array(leds("\(folders.classes)/leds")),
            "pwm": .array(pulses("\(folders.classes)/pwm")), "sensors": .array(sensors("\(folders.classes)/hwmon")),
            "inputs": .array(inputs.map { .string($0) }), "refused": .array(refused),
        ]
    }

    private static func names(_ folder: String) -> [String] {
        (FileText.names(in: folder) ?? []).filter { !$0.hasPrefix(".") }.sorted()
    }

    private static func leds(_ folder: String) -> [JSONValue] {
        names(folder).map { name in
            let max = SysfsFile(path: "\(folder)/\(name)/max_brightness").number()
            return ["name": .string(name), "max": max.map { .integer(Int64($0)) } ?? .null]
        }
    }

    private static func pulses(_ folder: String) -> [JSONValue] {
        names(folder).filter { $0.hasPrefix("pwmchip") }.map { chip in
            let channels = SysfsFile(path: "\(folder)/\(chip)/npwm").number() ?? 0
            return ["chip": .string(chip), "channels": .integer(Int64(channels))]
        }
    }

    private static func sensors(_ folder: String) -> [JSONValue] {
        HwmonSensor.chips(in: folder).flatMap { chip in
            names(chip.path).filter { $0.hasSuffix("_input") }.map { file -> JSONValue in
                let input = String(file.dropLast("_input".count))
                let number = SysfsFile(path: "\(chip.path)/\(file)").number()
                let value = number.map { Double($0) / HwmonSensor.divisor(of: input) }
                return [
                    "chip": .string(chip.name), "input": .string(input),
                    "label": label("\(chip.path)/\(input)_label"),
                    "value": value.map { .number($0) } ?? .null, "unit": .string(HwmonSensor.unit(of: input)),
                ]
            }
        }
    }

    private static func label(_ path: String) -> JSONValue {
        guard FileText.exists(path), case .success(let text) = FileText.exact(path, maximumBytes: 4096) else {
            return .null
        }
        return .string(String(text.prefix { !$0.isNewline }))
    }
}
