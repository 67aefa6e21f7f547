internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect
internal import QuickConnectClient

/// The process of one script, and its reports.
final class ScriptProcess {
    let pid: pid_t
    let started = ContinuousClock.now
    /// Its reports so far, combined.
    private(set) var report = ScriptReport()
    private(set) var loadedFiles: Set<String> = []
    /// The socket to it; -1 once it is closed.
    private(set) var descriptor: Int32
    /// The orders that it has not taken yet, and how much of them.
    private var output: [UInt8] = []
    private var sent = 0
    /// A healthy process sends short lines.
    private var splitter = LineSplitter(limit: 1 << 16)

    /// How it ended.
    enum End: Equatable {
        case status(Int32)
        case signal(Int32)
    }

    /// Starts a process.
    /// - Returns: nil if the system cannot start another process.
    init?(_ command: [String], environment: [String: String]) {
        var variables = environment
        variables[HostChannel.hostVariable] = "\(getpid())"
        guard let child = ChannelProcess.start(command, variables, channel: HostChannel.number) else { return nil }
        (pid, descriptor) = (child.pid, child.descriptor)
    }

    deinit { closeChannel() }

    // MARK: What it tells

    /// Reads its reports; true if there were any.
    func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var isNew = false
        while descriptor >= 0 {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0 { break }
            if count == 0 {
                closeChannel()
                break
            }
            buffer.withUnsafeBufferPointer { take(UnsafeBufferPointer(rebasing: $0[..<count])) }
            isNew = true
        }
        return isNew
    }

    private func take(_ bytes: UnsafeBufferPointer<UInt8>) {
        splitter.split(bytes) { line in
            switch line {
            case .line(let line): take(String(decoding: line, as: UTF8.self))
            case .overlong: closeChannel()
            }
        }
    }

    private func take(_ line: String) {
        guard let json = try? JSONParser.parse(line) else { return }
        let new = ScriptReport(json)
        if let file = new.loadedFile { loadedFiles.insert(file) }
        report.isLoaded = new.isLoaded ?? report.isLoaded
        report.isReleased = new.isReleased ?? report.isReleased
        report.calls = new.calls ?? report.calls
        report.answers = new.answers ?? report.answers
        report.droppedLines = new.droppedLines ?? report.droppedLines
        report.error = new.error ?? report.error
        report.limit = new.limit ?? report.limit
        report.place = new.place ?? report.place
    }

    var isLoaded: Bool { report.isLoaded ?? false }
    var isReleased: Bool { report.isReleased ?? false }

    /// Sends an order, as soon as the process takes it.
    func order(_ order: HostChannel.Order) {
        guard descriptor >= 0 else { return }
        output += Array(order.line.utf8)
        flush()
    }

    /// Whether it has taken all orders.
    var isReady: Bool { output.isEmpty }

    /// What to wait for in poll(2).
    var poll: pollfd {
        let events = output.isEmpty ? POLLIN : POLLIN | POLLOUT
        return pollfd(fd: descriptor, events: Int16(events), revents: 0)
    }

    /// Sends what the process takes now.
    func flush() {
        while sent < output.count {
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let count = output.withUnsafeBytes { bytes in
                send(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, flags)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            // It is gone; its end is reported by the other direction.
            guard count > 0 else { break }
            sent += count
        }
        (output, sent) = ([], 0)
    }

    func signal(_ number: Int32) { kill(pid, number) }

    private func closeChannel() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        (output, sent) = ([], 0)
    }

    // MARK: What it uses

    /// Resident memory in bytes.
    var memoryBytes: Int { ProcessFile.residentBytes(of: "\(pid)") }

    /// CPU time of all its threads, in seconds.
    var cpuSeconds: Double {
        // The name in parentheses may contain spaces.
        let text = ProcessFile.text("/proc/\(pid)/stat")
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        guard fields.count > 12, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
