import CWebKit
import Glibc
import Linux
import QuickConnectClient

/// A connection of a page to the daemon. The page makes the lines and reads the answers; here they are only passed on.
final class PageSocket {
    /// The daemon reads as long as it is read from; a page that sends more than that meanwhile floods.
    private static let mostWaiting = 64 << 20
    private static let patience = Duration.milliseconds(500)

    private let connection: DaemonConnection
    private let outbox = Outbox()
    private var waitingBytes = 0
    private var splitter = LineSplitter()
    private var input: LoopSource?
    private var output: LoopSource?
    private var lines: [UInt8] = []
    private var isLeft = false
    /// Something came, or the connection is lost. Called on the main loop.
    var changed: () -> Void = {}
    /// Why there is no connection any more.
    private(set) var end: String?

    /// Connects to the first of the paths that accepts.
    init(paths: [String]) throws(SocketPaths.NoDaemon) {
        connection = try SocketPaths.connect(paths, before: .now + Self.patience)
        listen()
    }

    isolated deinit {
        // The loop would look at a descriptor that is another one's by then.
        input?.cancel()
        output?.cancel()
    }

    private func listen() {
        guard input == nil, end == nil else { return }
        let events = GIOCondition(rawValue: G_IO_IN.rawValue | G_IO_HUP.rawValue | G_IO_ERR.rawValue)
        input = LoopSource.watch(connection.descriptor, events) { [weak self] in
            guard let self else { return false }
            receive()
            // It stays in the loop where the page has taken all at once, as it mostly does.
            if lines.isEmpty, end == nil { return true }
            input = nil
            return false
        }
    }

    /// Takes the lines that are there, each with its line break. Nothing more is read until they are taken: for a page
    /// that does not keep up, the daemon keeps the newest events.
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

    /// Sends lines without the last one's line break.
    func send(_ text: String) {
        guard end == nil else { return }
        guard waitingBytes < Self.mostWaiting else {
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

    /// The page is gone, or wants no more. What it has sent is still done: the daemon closes behind its last answer.
    /// - Parameter over: the daemon has closed it.
    func leave(over: @escaping () -> Void) {
        guard end == nil else { return over() }
        isLeft = true
        lines = []
        changed = { [weak self] in if self?.end != nil { over() } }
        listen()
        flush()
    }
}
