import CommandLineText
import Glibc
import JSON
import QuickConnect
import QuickConnectClient

/// A connection on which one call of `media` follows another. Each has the time of `--timeout`.
struct MediaConnection {
    private let options: ConnectionOptions
    private let client: Client

    /// Bytes of a piece: as many as the daemon takes.
    static let pieceBytes = 1 << 20

    init(_ options: ConnectionOptions) throws {
        self.options = options
        client = try options.connect(before: options.deadline)
    }

    func call(_ parameters: [JSONValue]) throws -> JSONValue {
        do {
            switch try client.call("media", .array(parameters), before: options.deadline) {
            case .success(let value): return value
            case .failure(let error): throw ExitError(error)
            }
        } catch let failure as ClientFailure {
            throw ExitError(failure)
        }
    }
}

/// Shows the progress of a slow transfer on a terminal.
struct TransferProgress {
    private let name: String
    private let begin = ContinuousClock.now
    private var shown = ContinuousClock.now
    private var isShown = false
    private let isTerminal = isatty(STDERR_FILENO) == 1

    private static let patience = Duration.milliseconds(500)
    private static let interval = Duration.milliseconds(100)

    init(_ name: String) { self.name = name }

    /// - Parameter total: all bytes there will be; nil if that is not known.
    mutating func show(_ bytes: Int, of total: Int?) {
        guard isTerminal, begin + Self.patience < .now, shown + Self.interval < .now else { return }
        (shown, isShown) = (.now, true)
        let share = total.map { " of \(ByteCount.words($0)) (\($0 > 0 ? bytes * 100 / $0 : 100) %)" } ?? ""
        let speed = Double(bytes) / max(0.001, begin.duration(to: .now) / .seconds(1))
        let text = "\(name): \(ByteCount.words(bytes))\(share), \(ByteCount.words(Int(speed)))/s"
        write("\r\u{1B}[K\(text)", to: STDERR_FILENO)
    }

    /// Clears the line.
    func end() {
        if isShown { write("\r\u{1B}[K", to: STDERR_FILENO) }
    }
}
