internal import CLinux
internal import Glibc
internal import Synchronization

/// Another program, which runs until it ends or another thread kills it. Its output is collected.
package final class RunningProgram: Sendable {
    /// How it ended, and what it had written.
    package struct Ending: Sendable {
        /// Its exit status; 128 plus the signal's number if a signal ended it.
        package var status: Int32
        package var output: String
        package var errors: String
    }

    /// Where what it writes to standard error goes.
    package enum Errors { case apart, output, inherited }

    /// Its process, while that id is its own, and whether it shall end.
    private let state = Mutex<(pid: pid_t?, isKilled: Bool)>((nil, false))

    package init() {}

    /// Ends it at once, unless it has ended; also one that is started later. Any thread.
    package func kill() {
        state.withLock { state in
            state.isKilled = true
            if let pid = state.pid { _ = Glibc.kill(pid, SIGKILL) }
        }
    }

    /// Starts it, and waits for its end. Once, on a thread that may block.
    /// - Parameters:
    ///   - words: its path, or a name that is looked for in `PATH`, and its arguments.
    ///   - environment: all of it, not an addition.
    ///   - hasInput: whether it reads this process's standard input, as ``Program/start(_:_:hasInput:descriptors:)`` says.
    ///   - maxBytes: the most that is kept of its output, and of its errors.
    package func run(
        _ words: [String],
        _ environment: [String: String],
        hasInput: Bool = false,
        errors: Errors = .apart,
        maxBytes: Int = 1 << 20
    ) throws(SystemCallError) -> Ending {
        var (output, apart): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        defer { for end in [output[0], apart[0]] { close(end) } }
        let pid: pid_t
        do {
            defer { for end in [output[1], apart[1]] { close(end) } }
            // Programs that other threads start meanwhile must not hold an end.
            try SystemCallError.check("pipe2") { qc_pipe(&output) }
            try SystemCallError.check("pipe2") { qc_pipe(&apart) }
            var descriptors = [(output[1], STDOUT_FILENO)]
            if errors != .inherited { descriptors.append((errors == .apart ? apart[1] : output[1], STDERR_FILENO)) }
            pid = try state.withLock { state throws(SystemCallError) in
                let pid = try Program.start(words, environment, hasInput: hasInput, descriptors: descriptors)
                state.pid = pid
                if state.isKilled { _ = Glibc.kill(pid, SIGKILL) }
                return pid
            }
        }
        let texts = Self.collect([output[0], apart[0]], of: pid, maxBytes)
        var information = siginfo_t()
        // Its process id stays reserved until it can no longer be killed.
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        let end = state.withLock { state -> Child.End in
            state.pid = nil
            return Program.wait(for: pid)
        }
        return Ending(status: end.shellStatus, output: texts[0], errors: texts[1])
    }

    /// Reads until it has ended. Its own child processes may hold the output open for longer; they are not waited for.
    private static func collect(_ descriptors: [Int32], of pid: pid_t, _ maxBytes: Int) -> [String] {
        let process = qc_process_descriptor(pid)
        defer { if process >= 0 { close(process) } }
        // Of what is there, all is read.
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
        var polled = (descriptors + [process]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var texts: [[UInt8]] = [[], []]
        while polled[0].fd >= 0 || polled[1].fd >= 0 {
            guard poll(&polled, nfds_t(polled.count), -1) >= 0 || errno == EINTR else { break }
            let isOver = polled[2].revents != 0
            for index in 0..<2 where polled[index].fd >= 0 {
                if read(polled[index].fd, into: &texts[index], maxBytes) { polled[index].fd = -1 }
            }
            if isOver { break }
        }
        return texts.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads what is there, and returns whether that was the end.
    private static func read(_ descriptor: Int32, into text: inout [UInt8], _ maxBytes: Int) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 || errno != EAGAIN }
            text += buffer[..<count].prefix(max(0, maxBytes - text.count))
        }
    }
}
