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
        folders.iio = folder("iio")
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

    /// A device of IIO with these files.
    private func device(_ number: Int, _ files: [String: String]) throws {
        for (name, text) in files { try write("\(text)\n", "iio/iio:device\(number)/\(name)") }
    }

    private func read(_ chip: String, _ input: String) throws(CommandError) -> Double {
        try pins.openSensor("a", SensorBinding(chip: chip, input: input)).read()
    }

    @Test(arguments: [
        ("temp", ["in_temp_input": "-4250"], -4.25), ("in_temp", ["in_temp_input": "25730"], 25.73),
        ("humidityrelative", ["in_humidityrelative_input": "48560", "in_humidityrelative_raw": "7"], 48.56),
        ("pressure", ["in_pressure_input": "101.325000"], 101.325),
        ("illuminance0", ["in_illuminance0_input": "330"], 330),
        ("distance", ["in_distance_raw": "1250", "in_distance_scale": "0.001"], 1.25),
        ("temp", ["in_temp_raw": "-300", "in_temp_offset": "100", "in_temp_scale": "62.5"], -12.5),
        ("voltage3", ["in_voltage3_raw": "8", "in_voltage_scale": "125", "in_voltage_offset": "-4"], 0.5),
        ("voltage0", ["in_voltage0_raw": "8", "in_voltage0_scale": "250", "in_voltage_scale": "125"], 2),
        (
            "voltage0-voltage1",
            ["in_voltage0-voltage1_raw": "-8", "in_voltage-voltage_scale": "250", "in_voltage_scale": "125"], -2
        ),
        ("power1", ["in_power1_raw": "2500", "in_scale": "2"], 5), ("proximity", ["in_proximity_raw": "17"], 17),
    ])
    func `a channel of IIO is a sensor, processed or raw`(
        input: String,
        files: [String: String],
        expected: Double
    ) throws {
        try device(3, files.merging(["name": "bme280", "label": "garden"]) { file, _ in file })
        // A trigger is no chip.
        try write("bme280\n", "iio/trigger0/name")
        #expect(try read("bme280", input) == expected)
        #expect(try read("garden", input) == expected)
    }

    @Test func `hwmon comes first where both have a chip with that input`() throws {
        try write("shtc3\n", "hwmon/hwmon0/name")
        try write("20000", "hwmon/hwmon0/temp1_input")
        try device(0, ["name": "shtc3", "in_temp_input": "30000", "in_temp1_input": "40000"])
        #expect(try read("shtc3", "temp1") == 20)
        #expect(try read("shtc3", "temp") == 30)
        let near = #expect(throws: CommandError.self) { try read("shtc3", "tmp1") }
        #expect(near?.message == "the sensor chip shtc3 has no input tmp1, did you mean 'temp1'?")
        #expect(near?.details["inspect"] == "quickconnect hardware")
    }

    @Test func `a device of IIO comes and goes, and two of a name are told apart by their labels`() throws {
        let missing = #expect(throws: CommandError.self) { try read("dht11", "temp") }
        #expect(missing?.isMissingPart == true && missing?.message.contains(folder("iio")) == true)
        try device(0, ["name": "dht11", "label": "in", "in_temp_input": "21000"])
        #expect(try read("dht11", "temp") == 21)
        try FileManager.default.removeItem(atPath: folder("iio/iio:device0"))
        #expect(#expect(throws: CommandError.self) { try read("dht11", "temp") }?.isMissingPart == true)
        try device(1, ["name": "dht11", "label": "out", "in_temp_input": "3000"])
        try device(2, ["name": "dht11", "label": "in", "in_temp_input": "22000"])
        #expect(#expect(throws: CommandError.self) { try read("dht11", "temp") }?.code == .invalid)
        #expect(try read("in", "temp") == 22)
    }

    @Test func `a scale that cannot be read gives no number`() throws {
        try device(0, ["name": "adc", "in_voltage0_raw": "8", "in_voltage1_raw": "much"])
        // A folder cannot be read, whoever reads it.
        try write("", "iio/iio:device0/in_voltage0_scale/not")
        let error = #expect(throws: CommandError.self) { try read("adc", "voltage0") }
        #expect(error?.code == .unavailable && error?.isMissingPart == false)
        #expect(error?.message.hasPrefix("the sensor adc voltage0 cannot be read: ") == true)
        #expect(
            #expect(throws: CommandError.self) { try read("adc", "voltage1") }?.message
                == "the sensor adc voltage1 gives no number"
        )
    }

    @Test func `the inventory has both, by names of their own`() throws {
        try write("cpu_thermal\n", "hwmon/hwmon0/name")
        try write("41500", "hwmon/hwmon0/temp1_input")
        try device(0, ["name": "adc", "label": "left", "in_voltage0_raw": "3", "in_voltage_scale": "500"])
        try device(1, ["name": "adc", "label": "right", "in_voltage0_raw": "x", "in_voltage0_label": "battery"])
        try device(2, ["name": "lis3dh", "in_accel_x_raw": "7"])
        var folders = KernelPins.Folders()
        (folders.classes, folders.devices, folders.iio) = (folder.path, folder("dev"), folder("iio"))
        let found = HardwareInventory.look(folders).objectValue?["sensors"]
        #expect(
            found == [
                ["chip": "cpu_thermal", "input": "temp1", "label": .null, "value": 41.5, "unit": "°C"],
                ["chip": "left", "input": "voltage0", "label": .null, "value": 1.5, "unit": "V"],
                ["chip": "right", "input": "voltage0", "label": "battery", "value": .null, "unit": "V"],
                ["chip": "lis3dh", "input": "accel_x", "label": .null, "value": .null, "unit": ""],
            ]
        )
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
