import CWebKit
import Glibc
import Linux
import QuickConnectClient

/// A page's connection to the daemon. The page writes the lines and parses the replies; here they are only passed on.
final class PageSocket {
    /// The daemon reads while its replies are read, so a page that sends more than this at once is flooding.
    private static let maxWaiting = 64 << 20
    private static let timeout = Duration.milliseconds(500)

    private let connection: DaemonConnection
    private let outbox = Outbox()
    private var waitingBytes = 0
    private var splitter = LineSplitter()
    private var input: LoopSource?
    private var output: LoopSource?
    private var lines: [UInt8] = []
    private var isLeft = false
    /// Called on the main loop when something has come, or the connection is lost.
    var changed: () -> Void = {}
    /// Why the connection has ended; nil while it is open.
    private(set) var end: String?

    /// Connects to the first of the paths that accepts.
    init(paths: [String]) throws(SocketPaths.NoDaemon) {
        connection = try SocketPaths.connect(paths, before: .now + Self.timeout)
        listen()
    }

    isolated deinit {
        // Otherwise the loop would watch a descriptor that may by then belong to something else.
        input?.cancel()
        output?.cancel()
    }

    private func listen() {
        guard input == nil, end == nil else { return }
        let events = GIOCondition(rawValue: G_IO_IN.rawValue | G_IO_HUP.rawValue | G_IO_ERR.rawValue)
        input = LoopSource.watch(connection.descriptor, events) { [weak self] in
            guard let self else { return false }
            receive()
            // It stays in the loop if the page has taken everything at once, as it usually does.
            if lines.isEmpty, end == nil { return true }
            input = nil
            return false
        }
    }

    /// Takes the complete lines, each with its line break. Nothing more is read until then: if a page is slow, the
    /// daemon keeps only the newest events.
    func takeLines() -> [UInt8] {
        defer { lines = [] }
        if !lines.isEmpty { listen() }
        return lines
    }

    var hasLines: Bool { !lines.isEmpty }

    private func receive() {
        do throws(SystemCallError) {
            let isOpen = try connection.receiveSome { bytes in
                splitter.split(bytes) { line in
                    guard case .line(let line) = line, !line.isEmpty else { return }
                    lines.append(contentsOf: line)
                    lines.append(UInt8(ascii: "\n"))
                }
            }
            if !isOpen { lose("the daemon closed the connection") }
        } catch {
            lose("\(error)")
        }
        if isLeft { lines = [] }
        changed()
    }

    /// Sends lines; the last one has no line break.
    func send(_ text: String) {
        guard end == nil else { return }
        guard waitingBytes < Self.maxWaiting else {
            return lose("the page sends more than the daemon takes")
        }
        var bytes = Array(text.utf8)
        bytes.append(UInt8(ascii: "\n"))
        waitingBytes += bytes.count
        outbox.append(bytes)
        flush()
    }

    private func flush() {
        do throws(SystemCallError) {
            try outbox.flush { bytes throws(SystemCallError) in
                let count = try connection.sendSome(bytes)
                waitingBytes -= count
                return count
            }
        } catch {
            return lose("\(error)")
        }
        if outbox.isEmpty {
            if isLeft { shutdown(connection.descriptor, Int32(SHUT_WR)) }
        } else if output == nil {
            output = LoopSource.watch(connection.descriptor, G_IO_OUT) { [weak self] in
                self?.output = nil
                self?.flush()
                return false
            }
        }
    }

    private func lose(_ reason: String) {
        end = reason
        input?.cancel()
        output?.cancel()
        (input, output) = (nil, nil)
        changed()
    }

    /// The page is gone, or has closed the connection. Calls that it sent are still done: the daemon closes after its
    /// last reply.
    /// - Parameter over: called when the daemon has closed it.
    func leave(over: @escaping () -> Void) {
        guard end == nil else { return over() }
        isLeft = true
        lines = []
        changed = { [weak self] in if self?.end != nil { over() } }
        listen()
        flush()
    }
}
