internal import CLinux
internal import Glibc
import JSON
import Linux
internal import QuickConnect

/// The motors among the event devices of this machine. They are found by their capabilities, not by their names, and
/// searched for each time, so one that is plugged in later is found.
///
/// sysfs shows the capabilities, so only devices with force feedback are opened: opening an input device may switch it
/// on.
struct EvdevMotors: MotorSource {
    /// The device named in the settings; nil: the first with a motor, preferably a real one, then one that rumbles.
    let named: String?
    /// Where the event devices are, `/dev/input`.
    let devices: String
    /// The sysfs folder that describes them, `/sys/class/input`.
    let classes: String
    let accounts: AccountNames

    let description = "the motor"

    func open() throws(CommandError) -> any Motor {
        let search = search()
        if let (motor, _) = search.best { return motor }
        throw search.error
    }

    func examine() -> Finding {
        let search = search()
        if let (_, candidate) = search.best {
            return Finding("vibration", .ok, "\(candidate.says) (\(candidate.path)) vibrates")
        }
        let error = search.error
        guard error.code != .unsupported else { return Finding("vibration", .warning, error.message) }
        return Finding("vibration", error, tried: search.candidates.map { "\($0.path): \($0.says)" })
    }

    // MARK: Looking

    private func search() -> MotorSearch {
        var search = MotorSearch(named: named, folder: devices, accounts: accounts)
        for path in paths { search.add(candidate(path)) }
        return search
    }

    /// The event devices in the order of their numbers.
    private var paths: [String] {
        if let named { return [named] }
        let names = FileText.names(in: devices) ?? []
        let numbers = names.compactMap { $0.hasPrefix("event") ? Int($0.dropFirst(5)) : nil }
        return numbers.sorted().map { "\(devices)/event\($0)" }
    }

    private func candidate(_ path: String) -> MotorCandidate {
        if named == nil, hasForceFeedback(path) == false { return MotorCandidate(path, .noMotor, "no force feedback") }
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return refused(path, SystemCallError("open")) }
        let kind = qc_rumble_kind(descriptor)
        guard kind > 0 else {
            close(descriptor)
            let says = kind < 0 ? SystemCallError("EVIOCGBIT", -kind).description : "no force feedback that vibrates"
            return MotorCandidate(path, .noMotor, says)
        }
        let motor = EvdevMotor(owning: descriptor, kind: kind)
        return MotorCandidate(path, .motor(motor, kind), name(descriptor), isVirtual: isVirtual(path))
    }

    /// Whether sysfs lists force feedback; nil if it does not say. `capabilities/ff` has the bits in hexadecimal words.
    private func hasForceFeedback(_ path: String) -> Bool? {
        let name = path.split(separator: "/").last ?? ""
        let file = "\(classes)/\(name)/device/capabilities/ff"
        guard case .success(let text) = FileText.exact(file, maximumBytes: 65_536) else { return nil }
        return text.contains { $0.isHexDigit && $0 != "0" }
    }

    /// Whether a program made it, by uinput. A Bluetooth device, whose kernel part is virtual too, is not below this folder.
    private func isVirtual(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        guard let real = realpath("\(classes)/\(name)", nil) else { return false }
        defer { free(real) }
        return String(cString: real).contains("/devices/virtual/input/")
    }

    private func refused(_ path: String, _ error: SystemCallError) -> MotorCandidate {
        var status = stat()
        guard [EACCES, EPERM].contains(error.code), stat(path, &status) == 0 else {
            return MotorCandidate(path, .failed(error), error.description)
        }
        // Without sysfs it is unknown whether it has a motor at all.
        return MotorCandidate(path, .denied(group: accounts.group(status.st_gid)), error.description)
    }

    private func name(_ descriptor: Int32) -> String {
        var name = [CChar](repeating: 0, count: 128)
        guard qc_rumble_name(descriptor, &name, Int32(name.count)) == 0 else { return "a device without a name" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// An event device that was checked.
struct MotorCandidate {
    enum Verdict {
        case motor(EvdevMotor, Int32)
        case noMotor
        /// Its group may open it.
        case denied(group: String)
        case failed(SystemCallError)
    }

    let path: String
    let verdict: Verdict
    /// The motor's name, or why there is none.
    let says: String
    /// Whether a program made the device.
    let isVirtual: Bool

    init(_ path: String, _ verdict: Verdict, _ says: String, isVirtual: Bool = false) {
        self.path = path
        self.verdict = verdict
        self.says = says
        self.isVirtual = isVirtual
    }
}

/// The result of the search for a motor.
struct MotorSearch {
    let named: String?
    let folder: String
    let accounts: AccountNames
    private(set) var candidates: [MotorCandidate] = []
    private(set) var best: (motor: EvdevMotor, candidate: MotorCandidate)?
    private var bestRank = (0, 0)

    /// The most devices that an error lists.
    private static let listed = 16

    init(named: String?, folder: String, accounts: AccountNames) {
        self.named = named
        self.folder = folder
        self.accounts = accounts
    }

    /// A device that a program made is used if no real one vibrates; one whose force feedback only has waves, if none rumbles.
    mutating func add(_ candidate: MotorCandidate) {
        candidates.append(candidate)
        guard case .motor(let motor, let kind) = candidate.verdict else { return }
        let rank = (candidate.isVirtual ? 0 : 1, kind == RumbleKind.rumble ? 1 : 0)
        if best == nil || rank > bestRank { (best, bestRank) = ((motor, candidate), rank) }
    }

    /// Why there is no motor.
    var error: CommandError {
        for candidate in candidates {
            if case .denied(let group) = candidate.verdict { return denied(candidate, group) }
        }
        for candidate in candidates {
            if case .failed(let error) = candidate.verdict, named != nil || error.code != ENOENT {
                return CommandError(.unavailable, "the motor \(candidate.path) cannot be used: \(error)")
            }
        }
        let looked = candidates.prefix(Self.listed).map { "\($0.path) (\($0.says))" }
        let more = candidates.count > Self.listed ? " and \(candidates.count - Self.listed) more" : ""
        let search = looked.isEmpty ? "\(folder) has no event devices" : "looked at \(looked.joined(separator: ", "))"
        return CommandError(.unsupported, "this device has nothing that vibrates: \(search)\(more)")
    }

    private func denied(_ candidate: MotorCandidate, _ group: String) -> CommandError {
        let user = accounts.ownUser()
        // A rule of udev makes the service's user the owner of motors; in that group it could read all keyboards.
        let isService = user == "quickconnect"
        let rules = "sudo udevadm control --reload && sudo udevadm trigger --subsystem-match=input"
        let fix = isService ? rules : "sudo usermod -aG \(group.shellWord) \(user.shellWord)"
        let message = "\(candidate.path), which may vibrate, cannot be opened by \(user); its group, \(group), may"
        return CommandError(.denied, message, details: ["group": .string(group), "fix": .string(fix)])
    }
}

/// The names of users and groups, for messages. Looking them up may block.
package struct AccountNames: Sendable {
    let group: @Sendable (UInt32) -> String
    let ownUser: @Sendable () -> String

    /// - Parameters:
    ///   - group: the name of a group.
    ///   - ownUser: the name of the user that this process runs as.
    package init(group: @escaping @Sendable (UInt32) -> String, ownUser: @escaping @Sendable () -> String) {
        self.group = group
        self.ownUser = ownUser
    }
}

/// The kinds of effects, with their numbers in `linux/input.h`.
enum RumbleKind {
    /// FF_RUMBLE.
    static let rumble: Int32 = 0x50
}

/// A motor behind an event device. One effect is uploaded and played for each vibration; the kernel ends it by itself
/// after its time, and erases it when the descriptor is closed.
final class EvdevMotor: Motor {
    let descriptor: Int32
    private let kind: Int32
    private var effect: (id: Int32, milliseconds: Int)?

    /// - Parameters:
    ///   - descriptor: the event device, open for writing; closed with this object.
    ///   - kind: from ``RumbleKind``.
    init(owning descriptor: Int32, kind: Int32) {
        self.descriptor = descriptor
        self.kind = kind
    }

    deinit {
        if let effect { _ = qc_rumble_play(descriptor, effect.id, 0) }
        // Also erases the effect.
        close(descriptor)
    }

    func vibrate(milliseconds: Int) throws(CommandError) {
        if effect?.milliseconds != milliseconds {
            let id = qc_rumble_upload(descriptor, kind, effect?.id ?? -1, Int32(milliseconds))
            effect = (try check("EVIOCSFF", id), milliseconds)
        }
        guard let effect else { return }
        try check("write", qc_rumble_play(descriptor, effect.id, 1))
    }

    func rest() throws(CommandError) {
        guard let effect else { return }
        try check("write", qc_rumble_play(descriptor, effect.id, 0))
    }

    @discardableResult
    private func check(_ call: String, _ result: Int32) throws(CommandError) -> Int32 {
        guard result < 0 else { return result }
        // ENOSPC: other programs' effects fill the device.
        let code: CommandError.Code = result == -ENOSPC ? .busy : .unavailable
        throw CommandError(code, "\(SystemCallError(call, -result))")
    }
}
