import CWebKit
import Glibc
import Linux

/// Lets a second start pass an address to the running window: a socket in the user's own runtime folder.
final class Handover {
    private static let maxBytes = 64 << 10

    private let socket: ListeningSocket
    private let take: (String) -> String?

    /// Listens, unless another window of this user does.
    /// - Parameter take: takes an address; returns nil, or why it is refused.
    init?(_ path: String, take: @escaping (String) -> String?) {
        guard let socket = try? ListeningSocket.bind(path: path, mode: 0o600) else { return nil }
        self.socket = socket
        self.take = take
        listen()
    }

    func stop() { socket.unlink() }

    private func listen() {
        _ = LoopSource.watch(socket.descriptor, G_IO_IN) { [weak self] in self?.accept() ?? false }
    }

    /// - Returns: whether the loop may call it again at once.
    private func accept() -> Bool {
        let connection = Glibc.accept(socket.descriptor, nil, nil)
        guard connection >= 0 else {
            // The visitor has gone again, or a signal came.
            if errno == ECONNABORTED || errno == EINTR { return true }
            // If no descriptor is free, the visitor still waits, and the loop would come here again without end.
            LoopSource.after(.seconds(1)) { [weak self] in self?.listen() }
            return false
        }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        _ = fcntl(connection, F_SETFL, O_NONBLOCK)
        Visitor(connection).listen(for: .seconds(5), upTo: Self.maxBytes, take)
        return true
    }

    /// Passes an address to the running window.
    /// - Returns: nil if none is running; otherwise its answer, empty if it has taken the address.
    nonisolated static func send(_ address: String, to path: String) -> String? {
        let socket: Int32
        do throws(SystemCallError) {
            socket = try UnixStreamSocket.connect(to: path, before: .now + .seconds(2))
        } catch {
            return nil
        }
        defer { Glibc.close(socket) }
        var time = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        Descriptor.write("\(address)\n", to: socket)
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        guard answer.last == UInt8(ascii: "\n") else { return "the window does not answer" }
        return String(decoding: answer.dropLast(), as: UTF8.self)
    }
}

/// A connection that passes an address. It lives until it is closed.
private final class Visitor {
    private var descriptor: Int32
    private var bytes: [UInt8] = []
    private var sources: [LoopSource] = []

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// - Parameter time: how long it may take; it is closed after that.
    func listen(for time: Duration, upTo limit: Int, _ take: @escaping (String) -> String?) {
        sources = [
            LoopSource.watch(descriptor, G_IO_IN) { self.read(upTo: limit, take) },
            LoopSource.after(time) { self.close() },
        ]
    }

    /// - Returns: whether more is to come.
    private func read(upTo limit: Int, _ take: (String) -> String?) -> Bool {
        guard descriptor >= 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN { return true }
        guard count > 0, bytes.count < limit else {
            close()
            return false
        }
        bytes += buffer[..<count]
        guard bytes.last == UInt8(ascii: "\n") else { return true }
        Descriptor.write("\(take(String(decoding: bytes.dropLast(), as: UTF8.self)) ?? "")\n", to: descriptor)
        close()
        return false
    }

    /// The loop must not watch the number of a closed descriptor: the next one that is opened gets it.
    private func close() {
        for source in sources { source.cancel() }
        sources = []
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }
}
