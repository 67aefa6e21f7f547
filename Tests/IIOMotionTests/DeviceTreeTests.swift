import Concurrency
import Foundation
import JSON
import Linux
import QuickConnect
import TestRig
import Testing

@testable import IIOMotion

extension Acceleration {
    /// As a vector, to a ten-thousandth.
    fileprivate var rounded: Vector { (Vector(x, y, z) * 10_000).rounded(.toNearestOrAwayFromZero) / 10_000 }
}

/// Finding an accelerometer, and reading it value by value.
@Suite struct PolledTests {
    private let tree: DeviceTree
    private let waker: Waker

    init() throws {
        tree = try DeviceTree()
        waker = try Waker()
    }

    private func value(_ source: IIOSource) throws -> Acceleration {
        try value(try source.open(rate: 10))
    }

    /// The next whole one.
    private func value(_ stream: any MotionStream) throws -> Acceleration {
        let end = ContinuousClock.now + hangGuard
        while ContinuousClock.now < end { if let value = try stream.next(waker, until: end) { return value } }
        throw NotInTime(description: "no value")
    }

    private func error(_ source: IIOSource) -> CommandError? {
        do throws(CommandError) { _ = try source.open(rate: 10) } catch { return error }
        return nil
    }

    @Test func `one scale for all axes`() throws {
        try tree.add("iio:device0", Driver.mma7660)
        #expect(try value(tree.source()).rounded == [0.2382, -0.0476, 1.0003])
    }

    @Test func `a scale for each axis, and the matrix that the driver calls mount_matrix`() throws {
        try tree.add("iio:device0", Driver.lis3dh)
        #expect(try value(tree.source()).rounded == [0.001, -0.002, -0.9991])
    }

    @Test func `the mount matrix turns the axes, then the owner's does`() throws {
        try tree.add("iio:device0", Driver.kxcjk1013)
        #expect(try value(tree.source()).rounded == [-0.001, -0.001, 1.0005])
        let matrix = try #require(Matrix([[-1, 0, 0], [0, -1, 0], [0, 0, -1]]))
        #expect(try value(tree.source(matrix: matrix)).rounded == [0.001, 0.001, -1.0005])
    }

    @Test func `the kernel's matrix comes before the owner's`() throws {
        try tree.add("iio:device0", Driver.kxcjk1013.merging(["in_accel_x_raw": "1024", "in_accel_z_raw": "0"]) { $1 })
        // x is turned to -y by the kernel's, then to z by the owner's.
        let matrix = try #require(Matrix([[1, 0, 0], [0, 0, 1], [0, -1, 0]]))
        #expect(try value(tree.source(matrix: matrix)).rounded == [-0.001, 0, 1.0005])
    }

    /// As systemd writes the file, with the lines of other kinds.
    @Test(arguments: [(nil, "+iio:iio:device0"), ("248:0", "c248:0")])
    func `udev's matrix takes the place of the kernel's`(number: String?, file: String) throws {
        try tree.add("iio:device0", Driver.lis3dh.merging(["in_accel_x_raw": "16384", "in_accel_z_raw": "0"]) { $1 })
        if let number { try tree.write(number, to: "iio:device0", "dev") }
        let text = "I:7746000\nE:SYSTEMD_WANTS=a=b\nE:ACCEL_MOUNT_MATRIX=0, 1, 0; -1, 0, 0; 0, 0, 1\nG:systemd\nV:1\n"
        try tree.folder.write(text, to: "udev/\(file)")
        #expect(try value(tree.source()).rounded == [-0.002, -0.9991, 0])
        try tree.folder.write("E:ACCEL_MOUNT_MATRIX=0, 1\n", to: "udev/\(file)")
        #expect(tree.source().examine {}.state == .error)
    }

    @Test func `an offset is added before the scale is applied`() throws {
        try tree.add(
            "iio:device0",
            Driver.mma7660.merging(["in_accel_offset": "-5", "in_accel_y_offset": "22"]) { $1 }
        )
        #expect(try value(tree.source()).rounded == [0, 1.0003, 0.7622])
    }

    @Test func `values that are in metres a second squared already are taken as they are`() throws {
        let input = [
            "in_accel_x_input": "0", "in_accel_y_input": "-9.80665", "in_accel_z_input": "4.903325",
            "in_accel_scale": "7",
        ]
        try tree.add("iio:device0", input)
        #expect(try value(tree.source()).rounded == [0, -1, 0.5])
    }

    @Test func `a matrix that cannot be read is a fault, and changes nothing`() throws {
        try tree.add("iio:device0", Driver.mma7660.merging(["in_mount_matrix": "(null)"]) { $1 })
        #expect(try value(tree.source()).rounded == [0.2382, -0.0476, 1.0003])
        #expect(tree.source().examine {}.state == .error)
    }

    @Test func `it is found by its channels among others, in the order of their numbers`() throws {
        try tree.add("iio:device0", ["name": "ads1015", "in_voltage0_raw": "7"])
        try tree.add("iio:device10", Driver.kxcjk1013)
        try tree.add("iio:device2", Driver.mma7660)
        try tree.add("trigger0", ["name": "mma7660-dev2"])
        #expect(try tree.source().open(rate: 10).description.contains("mma7660 (iio:device2)"))
        #expect(try tree.source(named: "kxcjk1013").open(rate: 10).description.contains("iio:device10"))
        #expect(try tree.source(named: "iio:device10").open(rate: 10).description.contains("kxcjk1013"))
        let missing = error(tree.source(named: "bma180"))
        #expect(missing?.code == .unsupported && missing?.message.contains("'bma180'") == true)
    }

    @Test func `of a tablet's two the screen's counts`() throws {
        try tree.add("iio:device0", Driver.mma7660.merging(["location": "base"]) { $1 })
        #expect(try tree.source().open(rate: 10).description.contains("iio:device0"))
        try tree.add("iio:device1", Driver.mma7660)
        #expect(try tree.source().open(rate: 10).description.contains("iio:device1"))
        try tree.add("iio:device2", Driver.mma7660.merging(["label": "accel-display"]) { $1 })
        #expect(try tree.source().open(rate: 10).description.contains("iio:device2"))
        // udev knows it better than the firmware.
        try tree.folder.write("E:ACCEL_LOCATION=base\n", to: "udev/+iio:iio:device2")
        try tree.folder.write("E:ACCEL_LOCATION=display\n", to: "udev/+iio:iio:device0")
        #expect(try tree.source().open(rate: 10).description.contains("iio:device0"))
    }

    @Test func `without one it is unsupported, and says what was looked at`() throws {
        #expect(error(tree.source())?.message.contains("\(tree.folder("sys")) has no devices") == true)
        try tree.add("iio:device0", ["name": "ads1015", "in_voltage0_raw": "7"])
        try tree.add("iio:device1", ["in_magn_x_raw": "7"])
        let missing = try #require(error(tree.source()))
        #expect(missing.code == .unsupported)
        #expect(missing.message.hasSuffix("looked at iio:device0 (ads1015), iio:device1"))
        #expect(tree.source().examine {}.state == .warning)
    }

    /// st_accel wakes its chip for each value, at 1 Hz from the start: six seconds for three axes.
    @Test func `a chip that is slow from the start is made faster than what is asked for`() throws {
        try tree.add("iio:device0", Driver.lis3dh)
        _ = try tree.source().open(rate: 10)
        #expect(try tree.text("iio:device0", "sampling_frequency") == "100")
    }

    @Test func `the values come at their rate`() throws {
        try tree.add("iio:device0", Driver.mma7660)
        let stream = try tree.source().open(rate: 50)
        let start = ContinuousClock.now
        for _ in 0..<11 { _ = try value(stream) }
        #expect(start.duration(to: .now) >= .milliseconds(195))
        #expect(try stream.next(waker, until: .now) == nil)
    }

    @Test func `one that goes away is unavailable, and one that tells nonsense too`() throws {
        try tree.add("iio:device0", Driver.mma7660)
        let stream = try tree.source().open(rate: 1000)
        try tree.write("fifteen", to: "iio:device0", "in_accel_y_raw")
        #expect(throws: CommandError.self) { try value(stream) }
        try tree.remove("iio:device0")
        #expect(throws: CommandError.self) { try value(stream) }
        #expect(error(tree.source())?.code == .unsupported)
    }

    @Test func `the doctor tells what it measures, and how it is read`() throws {
        try tree.add("iio:device0", Driver.kxcjk1013)
        let finding = tree.source().examine {}
        #expect(finding.state == .ok)
        #expect(finding.says == "kxcjk1013 (iio:device0) measures 1.0 g and is polled (it has no buffer)")
        try tree.folder.remove("sys/iio:device0/in_accel_z_raw")
        #expect(tree.source().examine {}.state == .error)
    }
}

/// Reading an accelerometer's buffer. A pipe stands for the device's file.
@Suite struct BufferedTests {
    private let tree: DeviceTree
    private let waker: Waker
    private let device = "iio:device0"
    private let pipe: Int32

    init() throws {
        tree = try DeviceTree()
        waker = try Waker()
        try tree.add("iio:device0", Driver.accel3D)
        let node = tree.folder("dev/iio:device0")
        mkfifo(node, 0o600)
        pipe = open(node, O_RDWR | O_NONBLOCK)
    }

    private func send(_ bytes: [UInt8]) { _ = write(pipe, bytes, bytes.count) }

    private func sample(_ x: Int16, _ y: Int16, _ z: Int16, nanoseconds: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        // What is beyond the 16 bits of each means nothing.
        for value in [x, y, z] { withUnsafeBytes(of: value.littleEndian) { bytes += Array($0) + [0xAA, 0x55] } }
        withUnsafeBytes(of: nanoseconds.littleEndian) { bytes += [9, 9, 9, 9] + Array($0) }
        return bytes
    }

    @Test func `it is switched on, read with its time, and switched off`() throws {
        var stream: (any MotionStream)? = try tree.source().open(rate: 20)
        #expect(stream?.description.contains("buffer") == true && stream?.rate == 20)
        for name in ["scan_elements/in_accel_x_en", "scan_elements/in_timestamp_en", "buffer/enable"] {
            #expect(try tree.text(device, name) == "1")
        }
        #expect(try tree.text(device, "in_accel_sampling_frequency") == "20")
        #expect(try tree.text(device, "trigger/current_trigger") == "accel_3d-dev0")
        send(sample(50, -7, 100, nanoseconds: 1_795_240_800_123_456_789))
        let value = try #require(try stream?.next(waker, until: .now + .seconds(5)))
        #expect(Acceleration(x: value.x, y: value.y, z: value.z).json == ["x": 0.5, "y": -0.07, "z": 1.0])
        #expect(value.time?.clock == "realtime")
        #expect(abs((value.time?.milliseconds ?? 0) - 1_795_240_800_123.457) < 0.001)
        #expect(try stream?.next(waker, until: .now + .milliseconds(10)) == nil)
        stream = nil
        #expect(try tree.text(device, "buffer/enable") == "0")
    }

    @Test func `several at once come one by one, and a part waits for its rest`() throws {
        let stream = try tree.source().open(rate: 20)
        let last = sample(3, 0, 0, nanoseconds: 3)
        send(sample(1, 0, 0, nanoseconds: 1) + sample(2, 0, 0, nanoseconds: 2) + last[..<11])
        var times: [Double?] = []
        for _ in 0..<3 { times.append(try stream.next(waker, until: .now + .milliseconds(20))?.time?.milliseconds) }
        #expect(times == [1e-6, 2e-6, nil])
        send(Array(last[11...]))
        #expect(try stream.next(waker, until: .now + .seconds(5))?.time?.milliseconds == 3e-6)
    }

    @Test func `the clock that the driver tells is passed on, and without a time there is none`() throws {
        // As kernel 6.1 writes it.
        try tree.write("boottime\n\u{0}", to: device, "current_timestamp_clock")
        let stream = try tree.source().open(rate: 20)
        send(sample(1, 0, 0, nanoseconds: 5_000_000))
        let json = try #require(try stream.next(waker, until: .now + .seconds(5))).json
        #expect(json["timestamp"] == 5.0 && json["clock"] == "boottime")
        try tree.folder.remove("sys/\(device)/scan_elements/in_timestamp_en")
        let other = try tree.source().open(rate: 20)
        send(Array(sample(1, 2, 3, nanoseconds: 0)[..<12]))
        #expect(try #require(try other.next(waker, until: .now + .seconds(5))).time == nil)
    }

    @Test func `a buffer that was left on is taken over, and what else is in it switched off`() throws {
        try tree.add(
            device,
            [
                "buffer/enable": "1", "scan_elements/in_temp_en": "1", "scan_elements/in_temp_index": "4",
                "scan_elements/in_temp_type": "le:s8/8>>0",
            ]
        )
        let stream = try tree.source().open(rate: 20)
        #expect(try tree.text(device, "scan_elements/in_temp_en") == "0")
        send(sample(100, 0, 0, nanoseconds: 1))
        #expect(try stream.next(waker, until: .now + .seconds(5))?.json["x"] == 1.0)
    }

    @Test func `a buffer without a trigger takes the device's own, and none of another`() throws {
        try tree.write("", to: device, "trigger/current_trigger")
        #expect(try tree.source().open(rate: 20).description.contains("polled: its buffer has no trigger"))
        try tree.add("trigger0", ["name": "accel_3d-dev7"])
        try tree.add("trigger1", ["name": "accel_3d-any-motion-dev0"])
        #expect(try tree.source().open(rate: 20).description.contains("polled"))
        try tree.add("trigger2", ["name": "accel_3d-dev0"])
        #expect(try tree.source().open(rate: 20).description.contains("buffer"))
        #expect(try tree.text(device, "trigger/current_trigger") == "accel_3d-dev0")
    }

    /// The rule gives one file after the other, and the daemon takes the buffer with its switch.
    @Test func `the udev rule gives the switch of a buffer last`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let rule = try String(contentsOfFile: root + "/systemd/quickconnect.rules", encoding: .utf8)
        let list = try #require(rule.firstMatch(of: /for file in ([^;]+); do/)).1.split(separator: " ")
        #expect(list.last == "buffer/enable" && list.contains("scan_elements/*_en"))
    }

    @Test(arguments: [
        "scan_elements/in_accel_y_type", "scan_elements/in_accel_z_en", "scan_elements/in_accel_x_index",
        "buffer/enable",
    ])
    func `where a part of it is missing it is polled`(attribute: String) throws {
        try tree.folder.remove("sys/\(device)/\(attribute)")
        let stream = try tree.source().open(rate: 20)
        #expect(stream.description.contains("polled"))
        _ = (try stream.next(waker, until: .now), try stream.next(waker, until: .now))
        #expect(try stream.next(waker, until: .now)?.json["z"] == 1.0)
    }

    @Test func `a buffer that stays empty is left, and single values are read`() throws {
        let source = tree.source()
        var stream: (any MotionStream)? = try source.open(rate: 20)
        #expect(stream?.isOutdated == false && stream?.isWorse == false)
        let end = ContinuousClock.now + hangGuard
        while try #require(stream).isOutdated == false, ContinuousClock.now < end {
            #expect(try stream?.next(waker, until: end) == nil)
        }
        stream = nil
        #expect(try tree.text(device, "buffer/enable") == "0")
        let polled = try source.open(rate: 20)
        #expect(polled.isWorse && polled.description == "accel_3d (iio:device0), polled: its buffer stayed empty")
        _ = (try polled.next(waker, until: .now), try polled.next(waker, until: .now))
        #expect(try polled.next(waker, until: .now)?.json["z"] == 1.0)
        #expect(!polled.isOutdated)
        let finding = source.examine {}
        #expect(finding.state == .warning && finding.says.hasSuffix("is polled (its buffer stayed empty)"))
    }

    @Test func `one whose buffer stays empty and that has no single values is unavailable`() throws {
        for axis in ["x", "y", "z"] { try tree.folder.remove("sys/\(device)/in_accel_\(axis)_raw") }
        let stream = try tree.source().open(rate: 20)
        let end = ContinuousClock.now + hangGuard
        #expect(throws: CommandError.self) {
            while ContinuousClock.now < end, !stream.isOutdated { _ = try stream.next(waker, until: end) }
        }
    }

    @Test func `one that goes away is unavailable at once`() throws {
        try tree.folder.remove("dev/\(device)")
        let node = tree.folder("dev/\(device)")
        mkfifo(node, 0o600)
        let stream = try tree.source().open(rate: 20)
        close(open(node, O_WRONLY))
        #expect(throws: CommandError.self) { try stream.next(waker, until: .now + hangGuard) }
    }
}
