internal import CLinux
internal import Glibc
import Linux
internal import QuickConnect

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

    func vibrate(milliseconds: Int) throws(MotorFailure) {
        if effect?.milliseconds != milliseconds {
            let id = qc_rumble_upload(descriptor, kind, effect?.id ?? -1, Int32(milliseconds))
            effect = (try check("EVIOCSFF", id), milliseconds)
        }
        guard let effect else { return }
        try check("write", qc_rumble_play(descriptor, effect.id, 1))
    }

    func rest() throws(MotorFailure) {
        guard let effect else { return }
        try check("write", qc_rumble_play(descriptor, effect.id, 0))
    }

    @discardableResult
    private func check(_ call: String, _ result: Int32) throws(MotorFailure) -> Int32 {
        guard result < 0 else { return result }
        // ENOSPC: other programs' effects fill the device.
        let code: CommandError.Code = result == -ENOSPC ? .busy : .unavailable
        throw MotorFailure(reason: SystemCallError(call, -result).description, code: code)
    }
}
