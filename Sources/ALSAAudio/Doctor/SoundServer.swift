internal import Glibc
internal import QuickConnect

/// The sound server that ALSA's plugins would speak to, as its sockets show.
struct SoundServer {
    private enum State {
        case answers(String)
        case silent(String, reason: String)
        case absent(looked: [String])
    }

    private let paths: [String]

    /// - Parameter environment: of this process.
    init(_ environment: [String: String]) {
        let runtime = environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(geteuid())"
        var paths = ["\(runtime)/pulse/native", "\(runtime)/pipewire-0", "/run/pulse/native"]
        if let named = environment["PULSE_SERVER"], let path = named.split(separator: ":").last, path.hasPrefix("/") {
            paths.insert(String(path), at: 0)
        }
        self.paths = paths
    }

    private var state: State {
        for path in paths where access(path, F_OK) == 0 {
            let code = Self.connect(to: path)
            return code == 0 ? .answers(path) : .silent(path, reason: String(cString: strerror(code)))
        }
        return .absent(looked: paths)
    }

    var description: String {
        switch state {
        case .answers(let path): "sound server: answers on \(path)"
        case .silent(let path, let reason): "sound server: \(path): \(reason)"
        case .absent(let looked): "sound server: none on \(looked.joined(separator: ", "))"
        }
    }

    var finding: Finding {
        switch state {
        case .answers(let path):
            Finding("sound server", .well, "one answers on \(path)")
        case .silent(let path, let reason):
            Finding("sound server", .fault, "the one on \(path) does not answer: \(reason)", mend: restart)
        case .absent(let looked):
            Finding("sound server", .note, "none runs for this user; a card can be used without one", tried: looked)
        }
    }

    /// The command that starts the user's server.
    var restart: String {
        access("/usr/bin/pipewire", X_OK) == 0
            ? "systemctl --user restart pipewire pipewire-pulse wireplumber"
            : "pulseaudio --start"
    }

    /// - Returns: 0, or the error number.
    private static func connect(to path: String) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
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
