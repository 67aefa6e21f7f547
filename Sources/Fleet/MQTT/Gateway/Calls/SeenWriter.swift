import Glibc
import Linux
import Synchronization

/// The file of recent calls, for the thread that writes it: a disk may be slow, or never answer.
final class SeenWriter: Sendable {
    private let path: String
    private let descriptor = Mutex<Int32>(-1)

    init(_ path: String) { self.path = path }

    deinit { descriptor.withLock { Self.close(&$0) } }

    private static func close(_ descriptor: inout Int32) {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Adds lines at the end.
    /// - Returns: what is wrong; nil if they are written.
    func append(_ lines: String) -> String? {
        descriptor.withLock { descriptor in
            guard descriptor >= 0 else { return "\(path): it is not open" }
            let code = Descriptor.write(lines, to: descriptor)
            guard code != 0 else { return nil }
            // A part of a line may have been written.
            Self.close(&descriptor)
            return "\(path): \(SystemCallError.text(code))"
        }
    }

    /// Writes the file anew.
    /// - Returns: what is wrong; nil if it is written.
    func replace(with calls: SeenCalls) -> String? {
        descriptor.withLock { descriptor in
            Self.close(&descriptor)
            do throws(SystemCallError) {
                try FileText.replace(path, with: calls.all.map(\.line).joined())
                descriptor = try SystemCallError.check("open") {
                    open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
                }
                return nil
            } catch {
                return "\(path): \(error)"
            }
        }
    }
}

extension SeenCalls.Call {
    /// Its line. No caller's name contains a space.
    var line: String { "\(seconds) \(key.text) \(caller)\n" }
}
