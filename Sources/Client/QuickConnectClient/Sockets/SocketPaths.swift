internal import Glibc
package import Linux

/// Where a client looks for the daemon's socket.
public enum SocketPaths {
    /// The paths to try, in order: the named one, or the environment's, or the system's and the user's.
    public static func candidates(named: String?, environment: [String: String]) -> [String] {
        if let named { return [named] }
        if let path = environment["QUICKCONNECT_SOCKET"], !path.isEmpty { return [path] }
        let runtime = environment["XDG_RUNTIME_DIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/run/user/\(getuid())"
        return ["/run/quickconnect/quickconnect.sock", "\(runtime)/quickconnect.sock"]
    }

    /// The variables of this process's environment that matter here.
    public static var environment: [String: String] {
        ["QUICKCONNECT_SOCKET", "XDG_RUNTIME_DIR"].reduce(into: [:]) { variables, name in
            variables[name] = getenv(name).map { String(cString: $0) }
        }
    }

    /// No daemon answered: each path, and what happened there.
    public struct NoDaemon: Error, Sendable, CustomStringConvertible {
        /// Each path that was tried, and what happened there.
        package var attempts: [(path: String, failure: SystemCallError)]

        /// `no daemon answers:`, and a line for each path.
        public var description: String { (["no daemon answers:"] + reasons.map { "  \($0)" }).joined(separator: "\n") }

        /// The same on one line, for a log.
        public var line: String { "no daemon answers: \(reasons.joined(separator: "; "))" }

        /// What happened at each path, with what helps.
        package var reasons: [String] { attempts.map(Self.reason) }

        private static func reason(_ path: String, _ failure: SystemCallError) -> String {
            guard failure.code == ENOTSOCK else { return "\(path): \(failure)\(hint(path, failure))" }
            return
                "\(path) is no socket, but a file or folder: --socket, or QUICKCONNECT_SOCKET, names the daemon's socket"
        }

        private static func hint(_ path: String, _ failure: SystemCallError) -> String {
            guard failure.code == EACCES else { return "" }
            guard let command = SocketPaths.commandToJoin(path) else {
                return " (only its owner may connect; --socket names another one)"
            }
            return " (you are not in its group; «\(command)», then log in again)"
        }
    }

    /// The command that adds this user to the group of a socket; nil if the socket is not open to its group.
    public static func commandToJoin(_ path: String) -> String? {
        var status = stat()
        // A socket in a folder that may not be searched cannot be examined; the service's group is the likely one.
        guard stat(path, &status) == 0 else { return "sudo usermod -aG quickconnect $USER" }
        guard status.st_mode & 0o020 != 0, status.st_gid != 0 else { return nil }
        return "sudo usermod -aG \(SystemNames.group(status.st_gid).shellWord) $USER"
    }

    /// What `--socket` is for, in the help of every client.
    public static let help = "The daemon's socket (default: $QUICKCONNECT_SOCKET, else the system's or the user's)."

    /// A connection to the first path that accepts.
    /// - Parameter deadline: when to stop waiting for a daemon that does not accept.
    public static func connect(
        _ paths: [String],
        before deadline: DaemonConnection.Deadline? = nil
    ) throws(NoDaemon) -> DaemonConnection {
        var attempts: [(String, SystemCallError)] = []
        for path in paths {
            do throws(SystemCallError) {
                return try DaemonConnection(path: path, before: deadline)
            } catch {
                attempts.append((path, error))
            }
        }
        throw NoDaemon(attempts: attempts)
    }
}
