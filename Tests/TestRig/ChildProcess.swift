public import Foundation
import Synchronization

/// A program that a test started. It is killed with this object, if it has not ended before.
public final class ChildProcess: Sendable {
    public enum Exit: Sendable, Equatable {
        case status(Int32)
        case signal(Int32)
    }

    public let pid: pid_t
    private let exit = Mutex<Exit?>(nil)
    private let output: String
    private let folder: TestFolder

    /// - Parameters:
    ///   - program: a path, or the name of a program of this machine or of `.build-rig`.
    ///   - environment: all of it, not an addition.
    ///   - input: the file that standard input is read from.
    public init(
        _ program: String,
        _ arguments: [String] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        input: String = "/dev/null"
    ) throws {
        let program = program.contains("/") ? program : ProgramPath.find(program) ?? program
        folder = try TestFolder()
        output = folder("output")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, folder("errors"), O_WRONLY | O_CREAT | O_APPEND, 0o600)

        var all = sigset_t()
        sigfillset(&all)
        var none = sigset_t()
        sigemptyset(&none)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        var pid = pid_t()
        let code = withCStrings([program] + arguments) { argv in
            withCStrings(environment.map { "\($0)=\($1)" }) { envp in
                posix_spawnp(&pid, program, &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else { throw NotInTime(description: "\(program): \(String(cString: strerror(code)))") }
        self.pid = pid
    }

    deinit {
        send(SIGKILL)
        var status: Int32 = 0
        if exit.withLock({ $0 == nil }) { waitpid(pid, &status, 0) }
    }

    /// What it has written to standard output so far.
    public var standardOutput: Data { FileManager.default.contents(atPath: output) ?? Data() }
    /// How many bytes that are.
    public var outputSize: Int {
        var status = stat()
        return stat(output, &status) == 0 ? Int(status.st_size) : 0
    }

    public var standardError: Data { FileManager.default.contents(atPath: folder("errors")) ?? Data() }

    /// Sends a signal, unless it has ended. After `SIGSTOP` it stands still when this returns: the kernel stops each of
    /// its threads where it next looks, and until then one of them may still answer.
    public func send(_ signal: Int32) {
        exit.withLock { exit in
            guard exit == nil else { return }
            _ = kill(pid, signal)
            guard signal == SIGSTOP else { return }
            var information = siginfo_t()
            waitid(P_PID, id_t(pid), &information, WSTOPPED | WEXITED | WNOWAIT)
        }
    }

    /// How it ended; `nil` while it runs.
    public func poll() -> Exit? {
        exit.withLock { exit in
            var status: Int32 = 0
            guard exit == nil, waitpid(pid, &status, WNOHANG) == pid else { return exit }
            let signal = status & 0x7f
            exit = signal == 0 ? .status((status >> 8) & 0xff) : .signal(signal)
            return exit
        }
    }

    /// Waits until it has ended.
    @discardableResult
    public func wait(within limit: Duration = hangGuard) async throws -> Exit {
        try await eventually("process \(pid) ends", within: limit) { poll() != nil }
        return poll() ?? .status(-1)
    }

    /// Runs a program to its end.
    /// - Returns: how it ended, and what it wrote to standard output.
    @discardableResult
    public static func run(
        _ program: String,
        _ arguments: [String] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        within limit: Duration = hangGuard
    ) async throws -> (exit: Exit, output: String) {
        let child = try ChildProcess(program, arguments, environment: environment)
        let exit = try await child.wait(within: limit)
        return (exit, String(decoding: child.standardOutput, as: UTF8.self))
    }

    /// Whether there is a program of that name.
    public static func isInstalled(_ program: String) -> Bool { ProgramPath.find(program) != nil }
}

private func withCStrings<Result>(
    _ strings: [String],
    _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
}
