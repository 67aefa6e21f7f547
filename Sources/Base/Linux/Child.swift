package import Glibc

/// A program that this one has started, and lines to and from it over a pair of sockets. Nothing here waits for it: it may not
/// read, not answer, and not end. For one thread, which polls it.
package final class Child {
    /// How it ended.
    package enum End: Sendable, Hashable, CustomStringConvertible {
        case status(Int32)
        case signal(Int32)
        /// Something else has taken its status.
        case unknown

        /// - Parameter status: as waitpid(2) gives it.
        package init(_ status: Int32) {
            let signal = status & 0x7f
            self = signal == 0 ? .status(status >> 8 & 0xff) : .signal(signal)
        }

        /// Its exit status; 128 plus the signal's number, as a shell says it.
        package var shellStatus: Int32 {
            switch self {
            case .status(let status): status
            case .signal(let signal): 128 + signal
            case .unknown: -1
            }
        }

        package var description: String {
            switch self {
            case .status(let status): "its process ended with status \(status)"
            case .signal(let number): "its process was ended by signal \(number)"
            case .unknown: "its process is gone"
            }
        }
    }

    /// A line that it has sent, or the beginning of one that is too long.
    package typealias Line = LineSplitter.Line

    package let pid: pid_t
    private let descriptor: Int32
    /// Nil while ``reap()`` has not found it ended. Until then its process id is its own.
    package private(set) var end: End?
    /// Whether it has closed its socket, or this side has.
    package private(set) var isClosed = false
    /// What it has not read yet.
    private var output: ArraySlice<UInt8> = []
    private var splitter: LineSplitter

    /// The most pieces of 64 KiB that are read or written at once: others wait for this thread, too.
    private static let maxPieces = 4
    private static let pieceBytes = 65_536

    /// Starts a program. Its input is empty, and what it writes to standard output goes to this process's standard error.
    /// - Parameters:
    ///   - words: its path, or a name to find in `PATH`, and its arguments.
    ///   - environment: its whole environment.
    ///   - channel: the socket's descriptor there.
    ///   - maxLine: the longest line that it may send, in bytes.
    /// - Returns: nil if the system cannot start another process.
    package init?(_ words: [String], _ environment: [String: String], channel: Int32, maxLine: Int) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { return nil }
        defer { close(pair[1]) }
        let descriptors = [(STDERR_FILENO, STDOUT_FILENO), (pair[1], channel)]
        do throws(SystemCallError) {
            pid = try Program.start(words, environment, hasInput: false, descriptors: descriptors)
        } catch {
            close(pair[0])
            return nil
        }
        descriptor = pair[0]
        splitter = LineSplitter(limit: maxLine)
    }

    deinit {
        kill()
        // Who lets go of it before ``reap()`` has said that it has ended may wait.
        if end == nil { Program.wait(for: pid) }
        close(descriptor)
    }

    // MARK: Lines

    /// Whether it has taken all that was sent.
    package var isReady: Bool { output.isEmpty }

    /// What to wait for in poll(2).
    package var poll: pollfd {
        let events = output.isEmpty ? POLLIN : POLLIN | POLLOUT
        return pollfd(fd: isClosed ? -1 : descriptor, events: Int16(events), revents: 0)
    }

    /// Sends a line, given with its line break, as soon as it takes it.
    /// - Returns: false if it is gone.
    @discardableResult
    package func send(_ line: [UInt8]) -> Bool {
        guard !isClosed else { return false }
        if output.isEmpty { output = line[...] } else { output += line }
        return flush()
    }

    /// Sends what it takes now.
    /// - Returns: false if it is gone, of which ``receive(_:)`` finds the end.
    @discardableResult
    package func flush() -> Bool {
        for _ in 0..<Self.maxPieces where !output.isEmpty {
            let count = output.prefix(Self.pieceBytes).withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count < 0, errno == EINTR || errno == EAGAIN { return true }
            output = count <= 0 || count == output.count ? [] : output.dropFirst(count)
            if count < 0 { return false }
        }
        return true
    }

    /// Passes on the lines that it has sent.
    /// - Parameter take: returns whether it takes more now.
    package func receive(_ take: (Line) -> Bool) {
        var takesMore = true
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.pieceBytes) { buffer in
            for _ in 0..<Self.maxPieces where takesMore && !isClosed {
                let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return }
                guard count > 0 else { return closeChannel() }
                splitter.split(UnsafeBufferPointer(rebasing: buffer[..<count])) { takesMore = take($0) && takesMore }
            }
        }
    }

    /// How many bytes of a line have come without its end.
    package var pendingCount: Int { splitter.pendingCount }

    /// Neither reads nor writes any more.
    package func closeChannel() {
        isClosed = true
        output = []
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    // MARK: Its end

    package func signal(_ number: Int32) { if end == nil { Glibc.kill(pid, number) } }

    /// Ends it. It is gone when ``reap()`` says so.
    package func kill() { signal(SIGKILL) }

    /// Whether it has ended.
    package func reap() -> Bool {
        guard end == nil else { return true }
        var status: Int32 = 0
        let result = waitpid(pid, &status, WNOHANG)
        if result == pid { end = End(status) } else if result < 0, errno == ECHILD { end = .unknown }
        return end != nil
    }

    // MARK: What it uses

    /// Resident memory in bytes.
    package var memoryBytes: Int { ProcessFile.residentBytes(of: "\(pid)") }

    /// CPU time of all its threads, in seconds.
    package var cpuSeconds: Double {
        let fields = ProcessFile.status(of: pid)
        guard fields.count > 12, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
