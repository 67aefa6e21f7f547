internal import Glibc
import JSON
import Linux
internal import QuickConnect

/// A motor for machines without one: it writes a JSON line for each action.
///
///     {"time":1795240800.125,"vibrates":true,"milliseconds":200}
///     {"time":1795240800.325,"vibrates":false}
struct SimulatedMotorSource: MotorSource {
    let path: String
    let description = "the simulated motor"

    /// A longer file is started again.
    private static let maxBytes: off_t = 1 << 20

    func open() throws(CommandError) -> any Motor {
        if let folder = Folders.parent(of: path) {
            do throws(SystemCallError) { try Folders.make(folder) } catch { throw failure(error) }
        }
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw failure(SystemCallError("open")) }
        if lseek(descriptor, 0, Int32(SEEK_END)) > Self.maxBytes { ftruncate(descriptor, 0) }
        return SimulatedMotor(owning: descriptor)
    }

    func examine() -> Finding { Finding("vibration", .ok, "the simulated motor writes to \(path)") }

    private func failure(_ error: SystemCallError) -> CommandError {
        CommandError(.unavailable, "\(description) cannot write to \(path): \(error)")
    }
}

private final class SimulatedMotor: Motor {
    let descriptor: Int32 = -1
    private let file: Int32
    private var vibrates = false

    init(owning file: Int32) { self.file = file }

    deinit {
        do throws(CommandError) { try rest() } catch {}
        close(file)
    }

    func vibrate(milliseconds: Int) throws(CommandError) {
        vibrates = true
        try report(["time": now, "vibrates": true, "milliseconds": .integer(Int64(milliseconds))])
    }

    func rest() throws(CommandError) {
        guard vibrates else { return }
        vibrates = false
        try report(["time": now, "vibrates": false])
    }

    private func report(_ line: JSONValue) throws(CommandError) {
        let code = Descriptor.write(line.text + "\n", to: file)
        guard code == 0 else { throw CommandError(.unavailable, "\(SystemCallError("write", code))") }
    }

    /// Seconds since 1970.
    private var now: JSONValue { .number((WallClock.now * 1000).rounded(.down) / 1000) }
}
