internal import CLinux
public import Glibc
internal import JSON
internal import QuickConnect

/// The socket between a script's process and its host: reports in one direction, one-byte orders in the other.
public final class HostChannel: Sendable {
    /// The environment variable that tells a script's process which host has started it.
    public static let hostVariable = "QUICKCONNECT_SCRIPT_HOST"
    /// The socket's number in the script's process.
    static let number: Int32 = 3

    public let descriptor: Int32

    /// The socket of a process that a host has started; this process ends when the host does.
    public init(ofHost host: pid_t) {
        descriptor = Self.number
        qc_end_with_parent(host)
    }

    /// Sends a report to the host. If the host does not read, it is dropped: later reports repeat its contents.
    func tell(_ report: ScriptReport) {
        let bytes = Array("\(report.json.text)\n".utf8)
        _ = bytes.withUnsafeBytes {
            send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
    }

    /// The host's orders.
    enum Order: UInt8 {
        /// Connect to the daemon: the script may act.
        case goOn = 0x67
        /// Accept no new calls, answer those that have begun, and end.
        case finish = 0x66
        /// Check the folders of macros, because one has changed.
        case look = 0x6c
    }

    /// Input from the host.
    enum Received: Equatable {
        case order(Order)
        case nothing
        /// The host is gone.
        case closed
    }

    func receive() -> Received {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT))
        if count > 0 { return Order(rawValue: byte).map { .order($0) } ?? .nothing }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .closed
    }
}
