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
            "pwm": .array(pulses("\(folders.classes)/pwm")), "sensors": .array(sensors(folders)),
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

    private static func sensors(_ folders: KernelPins.Folders) -> [JSONValue] {
        let chips = SensorChip.all(folders)
        return chips.flatMap { chip in
            let own = chip.names.first { name in chips.count { $0.names.contains(name) } == 1 }
            return chip.inputs.map { input -> JSONValue in
                let unit = chip.quantity(of: input).unit
                // A motion sensor may wake up for each of its many channels.
                let value = chip.isIIO && unit.isEmpty ? nil : try? chip.read(input)
                return [
                    "chip": .string(own ?? chip.names[0]), "input": .string(input),
                    "label": chip.label(of: input).map { .string($0) } ?? .null,
                    "value": value.map { .number($0) } ?? .null, "unit": .string(unit),
                ]
            }
        }
    }
}
