import Foundation

/// What systemd is to a service: the socket that NOTIFY_SOCKET names.
public final class NotifySocket: Sendable {
    private let folder: TestFolder
    private let descriptor: Int32
    /// As NOTIFY_SOCKET has it: a path, or a name behind @.
    public let path: String

    /// - Parameter isAbstract: whether it has a name only, and no file (unix(7)).
    public init(isAbstract: Bool = false) throws {
        folder = try TestFolder()
        path = isAbstract ? "@\(folder("notify"))" : folder("notify")
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        if isAbstract { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
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
