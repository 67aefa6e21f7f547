import CWebKit
import Glibc
import JSON
import Linux
import QuickConnectClient

/// A part of a file of the media folder on its way into a stream of the engine, a piece at a time. It lives until it is
/// sent, or the engine does not take it any more.
final class MediaSending {
    /// What is known of a file.
    struct Facts {
        var size: Int
        /// Changes when the file does.
        var tag: String
        var data: [UInt8]

        init?(_ answer: JSONValue) {
            guard let members = answer.objectValue, let size = members["size"]?.numberValue,
                let tag = members["tag"]?.stringValue, let data = members["data"]?.stringValue.flatMap(Base64.decode)
            else { return nil }
            (self.size, self.tag, self.data) = (Int(size), tag, data)
        }
    }

    /// Why there is no file.
    enum Problem: Error {
        case refused(CallFailure)
        /// The answer is none of the command `media`.
        case misunderstood
    }

    private let name: String
    private let tag: String
    private let daemon: DaemonHost
    private var range: Range<Int>
    private var ended: (() -> Void)?
    private var descriptor: Int32 = -1
    private var rest: ArraySlice<UInt8> = []

    private static let pieceBytes = 64 << 10
    private static let timeout = Duration.seconds(60)

    init(_ name: String, _ tag: String, _ range: Range<Int>, _ daemon: DaemonHost, ended: @escaping () -> Void) {
        self.name = name
        self.tag = tag
        self.range = range
        self.daemon = daemon
        self.ended = ended
    }

    static func facts(
        of name: String,
        from offset: Int = 0,
        atMost count: Int = 1,
        _ daemon: DaemonHost,
        completion: @escaping (Result<Facts, Problem>) -> Void
    ) {
        let parameters: JSONValue = [
            "read", .string(name), .integer(Int64(offset)), .integer(Int64(count)), ["tag": true],
        ]
        daemon.call("media", parameters, timeout: timeout) { result in
            switch result {
            case .failure(let failure): completion(.failure(.refused(failure)))
            case .success(let answer): completion(Facts(answer).map { .success($0) } ?? .failure(.misunderstood))
            }
        }
    }

    /// Begins, and gives the end for the engine; nil if there are no descriptors.
    func start() -> UnsafeMutablePointer<GInputStream>? {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0, let stream = g_unix_input_stream_new(ends[1], 1) else {
            for end in ends where end >= 0 { Glibc.close(end) }
            end()
            return nil
        }
        descriptor = ends[0]
        next()
        return stream
    }

    private func next() {
        guard !range.isEmpty else { return end() }
        let count = min(range.count, Self.pieceBytes)
        Self.facts(of: name, from: range.lowerBound, atMost: count, daemon) { [self] result in
            // The engine was told a length, so that it sees that this is not all.
            guard case .success(let facts) = result, facts.tag == tag, !facts.data.isEmpty else { return end() }
            range = range.dropFirst(facts.data.count)
            rest = facts.data[...]
            send()
        }
    }

    private func send() {
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return wait() }
            guard count > 0 else { return end() }
            rest = rest.dropFirst(count)
        }
        next()
    }

    private func wait() {
        _ = LoopSource.watch(descriptor, G_IO_OUT) { [self] in
            send()
            return false
        }
    }

    private func end() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
        ended?()
        ended = nil
    }
}
