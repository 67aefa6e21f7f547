import CWebKit
import Glibc
import JSON
import Linux
import QuickConnect
import QuickConnectClient

/// Uploads a file into the media folder, piece by piece.
final class WindowUpload {
    private static let pieceBytes = 512 << 10

    private let descriptor: Int32
    private let name: String
    private let daemon: DaemonHost
    private let ended: (String?) -> Void
    private var offset = 0

    init(_ path: String, as name: String, _ daemon: DaemonHost, _ ended: @escaping (String?) -> Void) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        self.name = name
        self.daemon = daemon
        self.ended = ended
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func sendNext() {
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        let count = pread(descriptor, &piece, piece.count, off_t(offset))
        guard count >= 0 else { return ended(SystemCallError.text(errno)) }
        let data = piece.withUnsafeBytes { Base64.encode(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        // A piece that is not full is the last one.
        let isLast = count < Self.pieceBytes
        var options: JSONObject = [:]
        if offset == 0 { options["begin"] = true }
        if isLast { options["end"] = true }
        let parameters: [JSONValue] = [
            "write", .string(name), .integer(Int64(offset)), .string(data), .object(options),
        ]
        offset += count
        daemon.call("media", .array(parameters), timeout: .seconds(60)) { [self] result in
            if case .failure(let failure) = result { return ended(failure.message) }
            if isLast { ended(nil) } else { sendNext() }
        }
    }
}
