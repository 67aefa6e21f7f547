internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect

/// A file of sysfs that is written.
struct SysfsFile {
    let path: String

    /// Opens it for each write: the kernel takes one text at a time.
    func write(_ text: String) throws(SystemCallError) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemCallError("open") }
        defer { close(descriptor) }
        let code = Descriptor.write(text, to: descriptor)
        guard code == 0 else { throw SystemCallError("write", code) }
    }

    func number() -> Int? {
        guard case .success(let text) = FileText.exact(path, maximumBytes: 4096) else { return nil }
        return Int(text.prefix { !$0.isWhitespace })
    }
}

extension CommandError {
    /// A file of sysfs that cannot be written or read.
    init(_ subject: String, _ path: String, _ error: SystemCallError) {
        let isDenied = error.code == EACCES || error.code == EPERM || error.code == EROFS
        self.init(
            isDenied ? .denied : error.code == EBUSY ? .busy : .unavailable,
            "\(subject) cannot be used: \(path): \(error)",
            details: isDenied ? ["fix": "sudo quickconnect setup gpio"] : [:]
        )
    }
}

/// An LED of the kernel.
final class LEDPin: OutputPin {
    private let name: String
    private let brightness: SysfsFile
    private let levels: LevelScale

    /// - Parameter folder: `/sys/class/leds`.
    init(_ name: String, in folder: String, _ declaration: ValueDeclaration, value: Double) throws(CommandError) {
        self.name = name
        let subject = "the LED \(name)"
        guard FileText.exists("\(folder)/\(name)") else {
            throw .missingPart("there is no LED \(name) in \(folder)")
        }
        let max = SysfsFile(path: "\(folder)/\(name)/max_brightness").number() ?? 1
        (brightness, levels) = (SysfsFile(path: "\(folder)/\(name)/brightness"), LevelScale(declaration, max: max))
        let trigger = SysfsFile(path: "\(folder)/\(name)/trigger")
        do throws(SystemCallError) { if FileText.exists(trigger.path) { try trigger.write("none") } } catch {
            throw CommandError(subject, trigger.path, error)
        }
        try write(value)
    }

    func write(_ value: Double) throws(CommandError) {
        do throws(SystemCallError) { try brightness.write("\(levels.level(of: value))") } catch {
            throw CommandError("the LED \(name)", brightness.path, error)
        }
    }

    func close() {}
}

/// A channel that makes pulses.
final class PWMPin: OutputPin {
    private let subject: String
    private let folder: String
    private let levels: LevelScale
    private static let nanoseconds = 1_000_000_000

    /// - Parameter folder: `/sys/class/pwm`.
    init(_ pwm: PWMBinding, in folder: String, _ declaration: ValueDeclaration, value: Double) throws(CommandError) {
        subject = "channel \(pwm.channel) of \(pwm.chip)"
        let chip = "\(folder)/\(pwm.chip)"
        guard FileText.exists(chip) else {
            throw .missingPart("there is no \(pwm.chip) in \(folder)")
        }
        self.folder = "\(chip)/pwm\(pwm.channel)"
        let period = Self.nanoseconds / pwm.frequency
        levels = LevelScale(declaration, max: period)
        if !FileText.exists(self.folder) {
            try set("\(chip)/export", pwm.channel)
            awaitRights()
        }
        // A duty cycle longer than the period is refused, whichever is set first.
        if let duty = SysfsFile(path: "\(self.folder)/duty_cycle").number(), duty > period { try set("duty_cycle", 0) }
        try set("period", period)
        try write(value)
        try set("enable", 1)
    }

    /// The rule that gives the new files to the service comes a moment after them. A longer one is waited for by trying again.
    private func awaitRights() {
        for _ in 0..<4 where access("\(folder)/enable", W_OK) != 0 { usleep(25_000) }
    }

    func write(_ value: Double) throws(CommandError) { try set("duty_cycle", levels.level(of: value)) }

    private func set(_ name: String, _ number: Int) throws(CommandError) {
        let file = SysfsFile(path: name.hasPrefix("/") ? name : "\(folder)/\(name)")
        do throws(SystemCallError) { try file.write("\(number)") } catch {
            throw CommandError(subject, file.path, error)
        }
    }

    func close() {}
}

/// From a value within the bounds of its declaration to what the hardware counts.
struct LevelScale {
    private let minimum: Double
    private let maximum: Double
    private let max: Int

    /// - Parameter max: what the hardware counts where the value has its maximum.
    init(_ declaration: ValueDeclaration, max: Int) {
        let isBoolean = declaration.parameter.kind == .boolean
        minimum = isBoolean ? 0 : declaration.parameter.minimum ?? 0
        maximum = isBoolean ? 1 : declaration.parameter.maximum ?? 100
        self.max = Swift.max(max, 0)
    }

    func level(of value: Double) -> Int {
        guard maximum > minimum, value.isFinite else { return 0 }
        let part = Swift.min(Swift.max((value - minimum) / (maximum - minimum), 0), 1)
        guard part.isFinite else { return 0 }
        return Int((part * Double(max)).rounded())
    }
}
