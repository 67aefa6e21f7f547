internal import CLinux
internal import Glibc
internal import JSON
internal import Linux
internal import Synchronization

/// The socket between a script's process and its host: reports in one direction, orders in the other, lines of JSON in both.
final class HostChannel: Sendable {
    /// The environment variable that tells a script's process which host has started it.
    static let hostVariable = "QUICKCONNECT_SCRIPT_HOST"
    /// The socket's number in the script's process.
    static let number: Int32 = 3

    let descriptor: Int32
    /// An order has at most the text of a macro, each character of which may be escaped.
    private let splitter = Mutex(LineSplitter(limit: 8 * MacroFolders.maximumBytes))

    /// The socket of a process that a host has started; this process ends when the host does.
    init(ofHost host: pid_t) {
        descriptor = Self.number
        qc_end_with_parent(host)
    }

    /// Sends a report to the host. If the host does not read, it is dropped: later reports repeat its contents.
    func report(_ report: ScriptReport) {
        let bytes = Array("\(report.json.text)\n".utf8)
        _ = bytes.withUnsafeBytes {
            send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
    }

    /// The host's orders.
    enum Order: Equatable {
        /// Connect to the daemon: the script may act.
        case goOn
        /// Accept no new calls, answer those that have begun, and end.
        case finish
        /// A macro has changed.
        case change(MacroChange)

        var line: String {
            switch self {
            case .goOn: "{\"order\":\"goOn\"}\n"
            case .finish: "{\"order\":\"finish\"}\n"
            case .change(let change): "\(JSONValue.object(["change": change.json]).text)\n"
            }
        }

        init?(_ line: UnsafeBufferPointer<UInt8>) {
            let members = (try? JSONParser.parse(line.span))?.objectValue ?? [:]
            switch members["order"]?.stringValue {
            case "goOn": self = .goOn
            case "finish": self = .finish
            default:
                guard let change = members["change"].flatMap({ MacroChange($0) }) else { return nil }
                self = .change(change)
            }
        }
    }

    /// The orders that have come, and whether the host is gone.
    func receive() -> (orders: [Order], isClosed: Bool) {
        var orders: [Order] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return (orders, false) }
            guard count > 0 else { return (orders, true) }
            splitter.withLock { splitter in
                buffer.withUnsafeBufferPointer { bytes in
                    splitter.split(UnsafeBufferPointer(rebasing: bytes[..<count])) { line in
                        guard case .line(let line) = line, let order = Order(line) else { return }
                        orders.append(order)
                    }
                }
            }
        }
    }
}
