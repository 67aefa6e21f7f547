package import Glibc

/// How programs are started. Nothing else here calls posix_spawn(3).
extension Program {
    /// Starts a program. No signal is blocked there. One without this process's input has all signals as they are by default;
    /// one with it belongs to the same terminal, and inherits which are ignored, except SIGPIPE.
    /// - Parameters:
    ///   - words: its path, or a name to find in `PATH`, and its arguments.
    ///   - environment: its whole environment; by default this process's.
    ///   - hasInput: whether it reads this process's standard input; otherwise its input is empty.
    ///   - descriptors: those of this process that it gets, and their numbers there.
    /// - Returns: its process id, for ``wait(for:)``.
    package static func start(
        _ words: [String],
        _ environment: [String: String] = OwnProcess.environment,
        hasInput: Bool = true,
        descriptors: [(here: Int32, there: Int32)] = []
    ) throws(SystemCallError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if !hasInput { posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) }
        for (here, there) in descriptors { posix_spawn_file_actions_adddup2(&actions, here, there) }
        var (defaults, none) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        if hasInput {
            sigemptyset(&defaults)
            sigaddset(&defaults, SIGPIPE)
        } else {
            sigfillset(&defaults)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var arguments = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, words.first ?? "", &actions, &attributes, &arguments, &variables)
        if code != 0 { throw SystemCallError("posix_spawnp \(words.first ?? "")", code) }
        return pid
    }

    /// Waits for the end of a program that this process has started.
    @discardableResult
    package static func wait(for pid: pid_t) -> Child.End {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 { guard errno == EINTR else { return .unknown } }
        return Child.End(status)
    }
}
