internal import CALSA
internal import Glibc
internal import Linux
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
        guard let address = try? UnixSocketAddress(path) else { return ENAMETOOLONG }
        let result = address.withSocketAddress { Glibc.connect(descriptor, $0, $1) }
        return result == 0 ? 0 : errno
    }
}

/// The kernel's sound cards at the time of the check.
struct SoundCards {
    /// Each in the form `0: PCH, HDA Intel PCH`.
    private let names: [String]
    /// Whether this process may open every control device.
    let areUsable: Bool

    init() {
        names = Self.cards
        let devices = FileText.names(in: "/dev/snd")?.filter { $0.hasPrefix("control") } ?? []
        areUsable = devices.allSatisfy { access("/dev/snd/\($0)", R_OK | W_OK) == 0 }
    }

    private static var cards: [String] {
        var cards: [String] = []
        var card: Int32 = -1
        while snd_card_next(&card) == 0, card >= 0 {
            var name: UnsafeMutablePointer<CChar>?
            guard snd_card_get_name(card, &name) == 0, let name else { continue }
            cards.append("\(card): \(String(cString: name))")
            free(name)
        }
        return cards
    }

    var isEmpty: Bool { names.isEmpty }

    private var list: String { names.joined(separator: "; ") }

    var description: String { isEmpty ? "sound cards: none" : "sound cards: \(list)" }

    func finding(_ account: OwnAccount) -> Finding {
        let subject = "sound cards"
        guard !isEmpty else {
            let says = "the kernel has no sound card; a sound server may still offer one, over the network for example"
            return Finding(subject, .warning, says, inspect: "aplay -l")
        }
        guard areUsable else {
            let says = "\(account), has no access to \(list)"
            return Finding(subject, .error, says, fix: account.joiningAudio)
        }
        return Finding(subject, .ok, list)
    }
}

extension OwnAccount {
    /// The command that gives this user access to sound cards.
    var joiningAudio: String { "sudo usermod -aG audio \(user.shellWord)" }
}
