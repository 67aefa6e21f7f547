public import Glibc

/// Starts another program that communicates with this one over a socket pair.
public enum ChannelProcess {
    /// Starts a program. Its input is empty, and its output goes to this process's standard error.
    /// - Parameters:
    ///   - command: its path, or a name to find in `PATH`, and its arguments.
    ///   - environment: its whole environment.
    ///   - channel: the socket's descriptor there.
    /// - Returns: its process id, and this end of the socket; nil if the system cannot start another process.
    public static func start(
        _ command: [String],
        _ environment: [String: String],
        channel: Int32
    ) -> (pid: pid_t, descriptor: Int32)? {
        var pair: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
            return nil
        }
        defer { close(pair[1]) }
        guard let pid = spawn(command, environment, channel: (pair[1], channel)) else {
            close(pair[0])
            return nil
        }
        return (pid, pair[0])
    }

    private static func spawn(
        _ command: [String],
        _ environment: [String: String],
        channel: (here: Int32, there: Int32)
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, channel.here, channel.there)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments = command.map { strdup($0) }
        var variables = environment.map { strdup("\($0)=\($1)") }
        defer { for text in arguments + variables { free(text) } }
        arguments.append(nil)
        variables.append(nil)
        var pid = pid_t()
        return posix_spawnp(&pid, command[0], &actions, &attributes, arguments, variables) == 0 ? pid : nil
    }
}
