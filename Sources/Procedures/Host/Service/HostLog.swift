internal import Glibc
internal import Linux

/// The host's log.
struct HostLog {
    let hasLevels: Bool

    func write(_ level: String, _ text: String) {
        let number = ["error": 3, "warning": 4][level] ?? 6
        let prefix = hasLevels ? "<\(number)>" : ""
        let lines = text.split(separator: "\n").map { "\(prefix)procedures: \(String($0).escapingControls)\n" }
        Descriptor.write(lines.joined(), to: STDERR_FILENO)
    }
}
