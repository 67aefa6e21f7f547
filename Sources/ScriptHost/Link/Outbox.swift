internal import Glibc
import Linux
internal import QuickConnectClient
internal import Synchronization

/// What waits to be sent to the daemon. The script's thread fills and empties it; the watching thread puts the last
/// words of a script that it ends there, between whole lines.
final class Outbox: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    func append(_ line: String) { append(Array(line.utf8)) }

    func append(_ line: [UInt8]) {
        bytes.withLock { bytes in
            bytes.append(contentsOf: line)
            bytes.append(UInt8(ascii: "\n"))
        }
    }

    var isEmpty: Bool { bytes.withLock { $0.isEmpty } }

    /// Sends what the kernel takes now.
    func flush(to connection: DaemonConnection) throws(SystemCallError) {
        let result = bytes.withLock { bytes in
            Result<Void, SystemCallError> { () throws(SystemCallError) in
                guard !bytes.isEmpty else { return }
                let count = try connection.sendSome(bytes[...])
                if count == bytes.count {
                    bytes.removeAll(keepingCapacity: count < 1 << 20)
                } else {
                    bytes.removeFirst(count)
                }
            }
        }
        try result.get()
    }

    /// Sends all, as far as that can be done within a time, in milliseconds: the last words of a process. Nobody else
    /// sends meanwhile, or the two would mix.
    func flush(toDescriptor socket: Int32, within milliseconds: Int32) {
        bytes.withLock { bytes in
            while !bytes.isEmpty {
                var poller = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
                guard poll(&poller, 1, milliseconds) > 0 else { return }
                let count = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                guard count > 0 || errno == EAGAIN || errno == EINTR else { return }
                bytes.removeFirst(max(count, 0))
            }
        }
    }

    /// Forgets what was not sent: half a line may be among it.
    func clear() { bytes.withLock { $0 = [] } }
}
