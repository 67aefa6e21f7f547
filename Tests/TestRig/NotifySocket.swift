import Foundation

/// What systemd is to a service: the socket that NOTIFY_SOCKET names.
public final class NotifySocket: Sendable {
    private let folder: TestFolder
    private let descriptor: Int32
    public var path: String { folder("notify") }

    public init() throws {
        folder = try TestFolder()
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: folder("notify").utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard result == 0 else { throw NotInTime(description: "bind: \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// What has been told since the last look, an item a message.
    public func messages() -> [String] {
        var messages: [String] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count > 0 {
            messages.append(String(decoding: buffer.prefix(count), as: UTF8.self))
        }
        return messages
    }
}
