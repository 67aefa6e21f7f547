internal import Glibc
import Linux
internal import QuickConnect

/// The sound server that ALSA's plugins would use, as its sockets appeared at the time of the check.
struct SoundServer {
    private enum State {
        case listens(String)
        case refuses(String, reason: String)
        case absent(looked: [String])
    }

    private let state: State
    /// The command that restarts the user's server.
    let restart: String

    /// Checks the sockets, without waiting for anything.
    /// - Parameter paths: the paths of the sockets, the likeliest first.
    init(at paths: [String]) {
        if let path = paths.first(where: { access($0, F_OK) == 0 }) {
            let code = Self.connect(to: path)
            state = code == 0 ? .listens(path) : .refuses(path, reason: Self.reason(code))
        } else {
            state = .absent(looked: paths)
        }
        restart =
            access("/usr/bin/pipewire", X_OK) == 0
            ? "systemctl --user restart pipewire pipewire-pulse wireplumber" : "pulseaudio --start"
    }

    /// The paths of a server's sockets.
    /// - Parameter environment: the environment of this process.
    static func paths(_ environment: [String: String]) -> [String] {
        let runtime = environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(geteuid())"
        let usual = ["\(runtime)/pulse/native", "\(runtime)/pipewire-0", "/run/pulse/native"]
        guard let named = environment["PULSE_SERVER"]?.split(separator: ":").last, named.hasPrefix("/") else {
            return usual
        }
        return [String(named)] + usual
    }

    var description: String {
        switch state {
        case .listens(let path): "sound server: listens on \(path)"
        case .refuses(let path, let reason): "sound server: \(path): \(reason)"
        case .absent(let looked): "sound server: none on \(looked.joined(separator: ", "))"
        }
    }

    /// - Parameter isHanging: whether opening a PCM did not return.
    func finding(isHanging: Bool) -> Finding {
        let subject = "sound server"
        switch state {
        case .listens(let path) where isHanging:
            let says = "the server on \(path) accepts connections but does not answer; it is stopped or overloaded"
            return Finding(subject, .error, says, fix: restart)
        case .listens(let path):
            return Finding(subject, .ok, "a server listens on \(path)")
        case .refuses(let path, let reason):
            return Finding(subject, .error, "the server on \(path) accepts no connection: \(reason)", fix: restart)
        case .absent(let looked):
            let says = "no sound server runs for this user; a sound card works without one"
            return Finding(subject, .warning, says, tried: looked)
        }
    }

    private static func reason(_ code: Int32) -> String {
        let text = SystemCallError.text(code)
        let hint = code == EAGAIN ? "; too many wait already, so it is stopped or overloaded" : ""
        return "connect: \(text) (\(code))\(hint)"
    }

    /// A Unix socket connects at once or not at all; if the server's queue is full, only a blocking call would wait.
    /// - Returns: 0, or the error number.
    private static func connect(to path: String) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < capacity else { return ENAMETOOLONG }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result == 0 ? 0 : errno
    }
}
