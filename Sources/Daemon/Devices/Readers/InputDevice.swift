internal import CLinux
internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect

/// An input device that is the daemon's alone, as long as this object lives.
final class InputDevice {
    let descriptor: Int32
    /// Which device it is, whatever its name.
    let number: UInt64
    private var isSkipping = false

    /// What has come.
    enum Event: Equatable {
        case key(UInt16, isPressed: Bool)
        /// The kernel could not keep all. What follows is whole again.
        case loss
    }

    /// Throws `unavailable` where it is not there, `busy` where another program has it, `denied` where this one may not, and
    /// `unsupported` where it has no keys.
    /// - Parameter owner: the name of the event that has the device with a number already.
    init(_ name: String, in folders: InputFolders, _ owner: (UInt64) -> String?) throws(CommandError) {
        let path = try folders.path(of: name)
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw folders.refusal(of: name, SystemCallError("open")) }
        var status = stat()
        fstat(descriptor, &status)
        number = UInt64(status.st_rdev)
        if let owner = owner(number) {
            close(descriptor)
            throw CommandError(.busy, "the input device \(name) is that of '\(owner)' by another name")
        }
        do throws(CommandError) { try take(name, folders) } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    private func take(_ name: String, _ folders: InputFolders) throws(CommandError) {
        guard qc_input_has_keys(descriptor) == 1 else {
            throw CommandError(.unsupported, "the input device \(name) has no keys")
        }
        let result = qc_input_grab(descriptor)
        guard result != -EBUSY else {
            throw CommandError(.busy, "another program has taken the input device \(name) for itself")
        }
        guard result == 0 else { throw folders.refusal(of: name, SystemCallError("EVIOCGRAB", -result)) }
    }

    /// What has come since the last time. Throws `unavailable` when it has gone.
    func read() throws(CommandError) -> [Event] {
        var events = [qc_input_event](repeating: qc_input_event(), count: 64)
        let count = qc_input_read(descriptor, &events, Int32(events.count))
        guard count >= 0 else {
            if count == -EAGAIN || count == -EINTR { return [] }
            throw CommandError(.unavailable, "the input device is gone: \(SystemCallError("read", -count))")
        }
        return events.prefix(Int(count)).compactMap(event)
    }

    private func event(_ event: qc_input_event) -> Event? {
        if event.type == qc_input_sync {
            guard event.code != qc_input_dropped else {
                isSkipping = true
                return nil
            }
            defer { isSkipping = false }
            return isSkipping ? .loss : nil
        }
        // 2 is a key that is held, which types nothing more.
        guard !isSkipping, event.type == qc_input_key, event.value != 2 else { return nil }
        return .key(event.code, isPressed: event.value != 0)
    }

    /// The keys that are pressed now.
    func pressedKeys() -> Set<UInt16> {
        var bits = [UInt8](repeating: 0, count: Int(QC_INPUT_KEYS) / 8)
        guard qc_input_pressed(descriptor, &bits) == 0 else { return [] }
        return Set((0..<UInt16(QC_INPUT_KEYS)).filter { bits[Int($0) / 8] >> ($0 % 8) & 1 == 1 })
    }
}
