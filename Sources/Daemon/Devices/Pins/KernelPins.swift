package import QuickConnect

/// The hardware of this machine, as the kernel has it.
package struct KernelPins: BoundPins {
    /// Where the kernel shows its hardware.
    package struct Folders: Sendable {
        /// `/dev`, with the GPIO chips.
        package var devices = "/dev"
        /// `/sys/class`, with `leds`, `pwm` and `hwmon`.
        package var classes = "/sys/class"
        /// The devices of IIO.
        package var iio = "/sys/bus/iio/devices"
        var hwmon: String { "\(classes)/hwmon" }

        package init() {}
    }

    let folders: Folders

    package init(_ folders: Folders = Folders()) { self.folders = folders }

    package func openOutput(
        _ name: String,
        _ declaration: ValueDeclaration,
        value: Double
    ) throws(CommandError) -> any OutputPin {
        switch declaration.binding {
        case .gpio(let gpio)?:
            try GPIOLine(GPIOChips(folder: folders.devices), gpio, for: name, value: value != 0)
        case .pwm(let pwm)?: try PWMPin(pwm, in: "\(folders.classes)/pwm", declaration, value: value)
        case .led(let led)?: try LEDPin(led, in: "\(folders.classes)/leds", declaration, value: value)
        case .sensor?, nil: throw CommandError(.unsupported, "'\(name)' is no output")
        }
    }

    package func openInput(_ name: String, _ binding: GPIOBinding) throws(CommandError) -> any InputPin {
        try GPIOLine(GPIOChips(folder: folders.devices), binding, for: name)
    }

    package func openSensor(_ name: String, _ binding: SensorBinding) -> any SensorInput {
        KernelSensor(binding: binding, folders: folders)
    }
}
