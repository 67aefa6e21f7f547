import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@testable import Pins

/// Lights, pulses and sensors in trees of files such as sysfs has.
@Suite struct SysfsTests {
    private let folder: TestFolder
    private let pins: KernelPins

    init() throws {
        folder = try TestFolder()
        var folders = KernelPins.Folders()
        folders.classes = folder.path
        folders.devices = folder("dev")
        pins = KernelPins(folders)
    }

    private func write(_ text: String, _ path: String) throws {
        let url = URL(fileURLWithPath: folder(path))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: url, atomically: false, encoding: .utf8)
    }

    /// What was written over the text before, as a file of sysfs takes it.
    private func text(_ path: String) throws -> String { try String(contentsOfFile: folder(path), encoding: .utf8) }

    private func percent(_ binding: Binding) -> ValueDeclaration {
        var value = declaration(.number)
        (value.parameter.minimum, value.parameter.maximum, value.binding) = (0, 100, binding)
        return value
    }

    @Test func `an LED counts as its kernel does, and its trigger is taken off`() throws {
        try write("255", "leds/front/max_brightness")
        try write("000", "leds/front/brightness")
        try write("none", "leds/front/trigger")
        let pin = try pins.openOutput("front", percent(.led("front")), value: 0)
        for (value, expected) in [(100.0, "255"), (40, "102"), (100, "255"), (-5, "055"), (1000, "255")] {
            try pin.write(value)
            #expect(try text("leds/front/brightness") == expected)
        }
        #expect(try text("leds/front/trigger") == "none")
    }

    @Test func `a boolean LED is dark or full`() throws {
        try write("3", "leds/one/max_brightness")
        try write("0", "leds/one/brightness")
        let pin = try pins.openOutput("one", declaration(.boolean, led: "one", initial: false), value: 1)
        #expect(try text("leds/one/brightness") == "3")
        try pin.write(0)
        #expect(try text("leds/one/brightness") == "0")
    }

    @Test func `pulses have a period in nanoseconds and a part of it`() throws {
        for file in ["period", "duty_cycle", "enable"] { try write("", "pwm/pwmchip0/pwm1/\(file)") }
        let fan = percent(.pwm(PWMBinding(chip: "pwmchip0", channel: 1, frequency: 25_000)))
        let pin = try pins.openOutput("fan", fan, value: 25)
        #expect(try text("pwm/pwmchip0/pwm1/period") == "40000")
        #expect(try text("pwm/pwmchip0/pwm1/duty_cycle") == "10000")
        #expect(try text("pwm/pwmchip0/pwm1/enable") == "1")
        try pin.write(100)
        #expect(try text("pwm/pwmchip0/pwm1/duty_cycle") == "40000")
    }

    @Test(arguments: [
        ("temp1", "41500", 41.5), ("temp1", "-2000\n", -2), ("fan2", "1200", 1200), ("in0", "3300", 3.3),
        ("power1", "2500000", 2.5),
        ("humidity1", "45000", 45),
    ])
    func `a sensor's number is in the unit of people`(input: String, text: String, expected: Double) throws {
        try write("nvme\n", "hwmon/hwmon0/name")
        try write("cpu_thermal\n", "hwmon/hwmon7/name")
        try write(text, "hwmon/hwmon7/\(input)_input")
        let sensor = pins.openSensor("a", SensorBinding(chip: "cpu_thermal", input: input))
        #expect(try sensor.read() == expected)
    }

    @Test func `what is missing is unavailable, and says where to look`() throws {
        let led = #expect(throws: CommandError.self) { try pins.openOutput("a", percent(.led("no")), value: 0) }
        #expect(led?.code == .unavailable && led?.details["inspect"] == "quickconnect hardware")
        let pwm = percent(.pwm(PWMBinding(chip: "pwmchip9", channel: 0, frequency: 50)))
        #expect(#expect(throws: CommandError.self) { try pins.openOutput("a", pwm, value: 0) }?.code == .unavailable)
        let sensor = pins.openSensor("a", SensorBinding(chip: "none", input: "temp1"))
        #expect(#expect(throws: CommandError.self) { try sensor.read() }?.code == .unavailable)
        let line = #expect(throws: CommandError.self) {
            try pins.openInput("a", GPIOBinding(.named("GPIO17"), isOutput: false))
        }
        #expect(line?.code == .unavailable && line?.message.contains("no GPIO chip") == true)
        try write("pwmchip", "hwmon/hwmon0/name")
        try write("pwmchip", "hwmon/hwmon1/name")
        let twice = pins.openSensor("a", SensorBinding(chip: "pwmchip", input: "temp1"))
        #expect(#expect(throws: CommandError.self) { try twice.read() }?.code == .invalid)
        try write("text", "hwmon/hwmon2/temp1_input")
        try write("odd", "hwmon/hwmon2/name")
        let odd = pins.openSensor("a", SensorBinding(chip: "odd", input: "temp1"))
        #expect(#expect(throws: CommandError.self) { try odd.read() }?.code == .unavailable)
    }

    @Test func `a file that is no chip is told, and a link to one is passed over`() throws {
        try write("", "dev/gpiochip0")
        try FileManager.default.createSymbolicLink(
            atPath: folder("dev/gpiochip4"),
            withDestinationPath: folder("dev/gpiochip0")
        )
        let (lines, refusals) = GPIOChips(folder: folder("dev")).all()
        #expect(lines.isEmpty && refusals.map(\.path) == [folder("dev/gpiochip0")])
        let line = #expect(throws: CommandError.self) {
            try pins.openInput("a", GPIOBinding(.named("GPIO17"), isOutput: false))
        }
        #expect(line?.code == .unavailable && line?.message.contains("gpiochip0 cannot be opened") == true)
    }
}
