import Foundation
import JSON
import Linux
import QuickConnect
import TestRig
import Testing

@testable import EvdevHaptics

/// Where a motor is looked for, on a tree of files: no event device is behind them.
@Suite struct MotorSearchTests {
    private let folder: TestFolder
    private let accounts = AccountNames(group: { $0 == 104 ? "input" : "\($0)" }, ownUser: { "kiosk" })

    init() throws {
        folder = try TestFolder()
        try FileManager.default.createDirectory(atPath: folder("dev"), withIntermediateDirectories: true)
    }

    private func motors(named: String? = nil) -> EvdevMotors {
        EvdevMotors(named: named, devices: folder("dev"), classes: folder("sys"), accounts: accounts)
    }

    /// - Parameter forceFeedback: what sysfs tells; nil: nothing.
    private func add(_ name: String, forceFeedback: String?) throws {
        try folder.write("", to: "dev/\(name)")
        guard let forceFeedback else { return }
        let path = folder("sys/\(name)/device/capabilities")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try folder.write("\(forceFeedback)\n", to: "sys/\(name)/device/capabilities/ff")
    }

    private func error(_ motors: EvdevMotors) -> CommandError? {
        do throws(CommandError) { _ = try motors.open() } catch { return error }
        return nil
    }

    @Test func `without event devices it is unsupported, and says where it looked`() {
        #expect(error(motors())?.code == .unsupported)
        #expect(error(motors())?.message.contains("\(folder("dev")) has no event devices") == true)
        #expect(motors().examine().state == .warning)
    }

    @Test func `what has no force feedback is not opened, and is listed`() throws {
        try add("event10", forceFeedback: "0")
        try add("event2", forceFeedback: "0 0")
        try add("mouse0", forceFeedback: "107030000 0")
        let message = try #require(error(motors())).message
        let list = "\(folder("dev/event2")) (no force feedback), \(folder("dev/event10")) (no force feedback)"
        #expect(message.hasSuffix(list))
    }

    @Test func `what sysfs does not tell is asked of the device`() throws {
        try add("event0", forceFeedback: nil)
        try add("event1", forceFeedback: "107030000 0")
        let message = try #require(error(motors())).message
        // An ordinary file knows no such ioctl.
        #expect(message.components(separatedBy: "EVIOCGBIT: ").count == 3)
    }

    @Test func `a list of many is cut`() throws {
        for number in 0..<20 { try add("event\(number)", forceFeedback: "0") }
        #expect(try #require(error(motors())).message.hasSuffix("event15 (no force feedback) and 4 more"))
    }

    @Test func `one that the settings name is the only one that is looked at`() throws {
        try add("event0", forceFeedback: "0")
        let missing = try #require(error(motors(named: folder("dev/event9"))))
        #expect(missing.code == .unavailable && missing.message.contains("No such file"))
        let other = try #require(error(motors(named: folder("dev/event0"))))
        #expect(other.code == .unsupported && other.message.contains("EVIOCGBIT"))
    }

    @Test func `one that may not be opened is denied, with its group`() throws {
        var search = MotorSearch(named: nil, folder: "/dev/input", accounts: accounts)
        search.add(MotorCandidate("/dev/input/event0", .noMotor, "no force feedback"))
        search.add(MotorCandidate("/dev/input/event1", .denied(group: "input"), "open: Permission denied"))
        let error = search.error
        #expect(error.code == .denied && error.details["group"] == "input")
        #expect(error.message.contains("/dev/input/event1") && error.message.contains("kiosk"))
        #expect(error.details["fix"] == "sudo usermod -aG input kiosk")
    }

    @Test func `a real one comes before one of a program, and one that rumbles before those that only have waves`()
        throws
    {
        var search = MotorSearch(named: nil, folder: "/dev/input", accounts: accounts)
        func candidate(_ path: String, _ kind: Int32, isVirtual: Bool = false) -> MotorCandidate {
            let motor = EvdevMotor(owning: open("/dev/null", O_RDWR), kind: kind)
            return MotorCandidate(path, .motor(motor, kind), "a motor", isVirtual: isVirtual)
        }
        search.add(candidate("made by a program", 0x50, isVirtual: true))
        #expect(search.best?.candidate.path == "made by a program")
        search.add(candidate("a", 0x5a))
        #expect(search.best?.candidate.path == "a")
        search.add(candidate("b", 0x50))
        search.add(candidate("c", 0x50))
        #expect(search.best?.candidate.path == "b")
    }
}
