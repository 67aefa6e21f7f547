internal import CLinux
internal import Glibc
internal import Synchronization

/// Another program running beside this one, until it ends or is killed. Its input is empty; its output is collected.
package final class RunningProgram: Sendable {
    /// How it ended, and what it had written.
    package struct Ending: Sendable {
        /// Its exit status; 128 plus the signal's number if a signal ended it.
        package var status: Int32
        package var output: String
        package var errors: String
    }

    private let pid: pid_t
    private let output: Int32
    private let errors: Int32
    /// Whether its process id may belong to another process by now.
    private let isOver = Mutex(false)
    /// The most bytes kept of its output, and of its errors.
    private static let maxBytes = 1 << 20

    /// Starts it, with all signals as they are by default.
    /// - Parameters:
    ///   - program: a path, or a name that is looked for in `PATH`.
    ///   - environment: all of it, not an addition.
    package init(_ program: String, _ arguments: [String], environment: [String: String]) throws(SystemCallError) {
        let (output, errors) = (try Self.ends(), try Self.ends())
        defer { for end in [output.writing, errors.writing] { close(end) } }
        self.output = output.reading
        self.errors = errors.reading
        do throws(SystemCallError) {
            let descriptors = [(output.writing, STDOUT_FILENO), (errors.writing, STDERR_FILENO)]
            pid = try Program.start([program] + arguments, environment, hasInput: false, descriptors: descriptors)
        } catch {
            for end in [output.reading, errors.reading] { close(end) }
            throw error
        }
    }

    private static func ends() throws(SystemCallError) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        // Unlike pipe(2), this keeps them from programs that another thread starts meanwhile.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try SystemCallError.check("socketpair") { socketpair(AF_UNIX, type, 0, &ends) }
        // The reader uses poll(2) and must never block.
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }

    /// Ends it at once, unless it has ended. Any thread.
    package func kill() {
        isOver.withLock { if !$0 { _ = Glibc.kill(pid, SIGKILL) } }
    }

    /// Waits for its end. Once, on a thread that may block.
    package func wait() -> Ending {
        let (output, errors) = collect()
        close(self.output)
        close(self.errors)
        var information = siginfo_t()
        // Its process id stays reserved until it can no longer be killed.
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        let end = isOver.withLock { isOver -> Child.End in
            isOver = true
            return Program.wait(for: pid)
        }
        return Ending(status: end.shellStatus, output: output, errors: errors)
    }

    /// Reads until it has ended. Its own child processes may hold the output open for longer; they are not waited for.
    private func collect() -> (output: String, errors: String) {
        let process = qc_process_descriptor(pid)
        defer { if process >= 0 { close(process) } }
        var polled = [output, errors, process].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var texts: [[UInt8]] = [[], []]
        while polled[0].fd >= 0 || polled[1].fd >= 0 {
            guard poll(&polled, nfds_t(polled.count), -1) >= 0 || errno == EINTR else { break }
            let isOver = polled[2].revents != 0
            for index in 0..<2 where polled[index].fd >= 0 {
                if Self.read(polled[index].fd, into: &texts[index]) { polled[index].fd = -1 }
            }
            if isOver { break }
        }
        return (String(decoding: texts[0], as: UTF8.self), String(decoding: texts[1], as: UTF8.self))
    }

    /// Reads what is there, and returns whether that was the end.
    private static func read(_ descriptor: Int32, into text: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 || errno != EAGAIN }
            text += buffer[..<count].prefix(max(0, maxBytes - text.count))
        }
    }
}
