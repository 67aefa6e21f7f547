import Glibc
import Linux

/// The display of a graphical session, and where its server listens.
struct Display: Sendable {
    let name: String
    var isX11: Bool { name.contains(":") }
    /// Where its server may listen; empty for one on another machine.
    private let sockets: [String]
    /// What programs find it by.
    let variables: [String: String]
    private static let timeout = Duration.seconds(2)

    /// - Parameter name: `:0` of X11, or `wayland-0`; nil takes what the environment names.
    init(named name: String?, environment: [String: String]) throws(PlainError) {
        let wayland = environment["WAYLAND_DISPLAY"].flatMap { $0.isEmpty ? nil : $0 }
        let x11 = environment["DISPLAY"].flatMap { $0.isEmpty ? nil : $0 }
        guard let found = name ?? wayland ?? x11 else {
            throw PlainError(
                "there is no display: neither WAYLAND_DISPLAY nor DISPLAY is set; run it in a graphical "
                    + "session, or with --display, or with --simulate"
            )
        }
        self.name = found
        if found.contains(":") {
            sockets = Self.x11Sockets(found)
            variables = ["DISPLAY": found, "GDK_BACKEND": "x11"]
        } else {
            let folder = environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(getuid())"
            sockets = [found.hasPrefix("/") ? found : "\(folder)/\(found)"]
            variables = ["WAYLAND_DISPLAY": found, "GDK_BACKEND": "wayland,x11"]
        }
        if let failure = failure() { throw PlainError(failure) }
    }

    /// `:1.0` listens on a path and on an abstract name; `host:1` on another machine.
    private static func x11Sockets(_ name: String) -> [String] {
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        let number = parts.last?.prefix { $0.isNumber } ?? ""
        guard parts.count == 2, parts[0].isEmpty || parts[0] == "unix" else { return [] }
        return ["/tmp/.X11-unix/X\(number)", "@/tmp/.X11-unix/X\(number)"]
    }

    /// Why nothing can be shown there; nil if its server takes connections. May take as long as ``timeout``.
    func failure() -> String? {
        var problem: SystemCallError?
        for socket in sockets {
            do throws(SystemCallError) {
                close(try UnixStreamSocket.connect(to: socket, before: .now + Self.timeout))
                return nil
            } catch {
                problem = problem ?? error
            }
        }
        return problem.map { "no display answers at \(name): \($0)" }
    }
}
