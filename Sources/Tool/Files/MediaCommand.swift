import ArgumentParser
import CommandLineText
import Glibc
import JSON
import QuickConnectClient

struct MediaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "media",
        abstract: "Lists, fetches, sends and removes files of the media folder.",
        discussion: """
            Every caller may list and play files; only the owner of a file and root may read, replace or remove it.

            Examples:
              quickconnect media list
              quickconnect media get take.caf
              quickconnect media get take.flac - | flac -d -c - | aplay
              quickconnect media put bell.wav
              quickconnect media put - news/today.opus < today.opus
              quickconnect media remove take.caf
            """,
        subcommands: [MediaListCommand.self, MediaGetCommand.self, MediaPutCommand.self, MediaRemoveCommand.self]
    )
}

struct MediaListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the files, with their length, format, size and owner."
    )

    @OptionGroup var output: AnswerOptions

    func run() throws {
        guard let answer = output.forPeople(try output.connection.call("media", ["list"])) else { return }
        say(MediaTable(answer.arrayValue ?? []).text)
    }
}

struct MediaRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Removes files.")

    @OptionGroup var connection: ConnectionOptions

    @Argument(
        help: ArgumentHelp("Their names in the media folder.", valueName: "FILE"),
        completion: Completion.mediaFile
    )
    var files: [String]

    func run() throws {
        let media = try MediaConnection(connection)
        for file in files { _ = try media.call(["remove", .string(file)]) }
    }
}

/// What `media list` answers, in columns.
private struct MediaTable {
    let files: [JSONObject]

    init(_ answer: [JSONValue]) { files = answer.compactMap(\.objectValue) }

    var text: String {
        guard !files.isEmpty else { return "The media folder is empty." }
        let rows = [["FILE", "LENGTH", "FORMAT", "SIZE", "OWNER"]] + files.map(row)
        return Table.columns(rows, right: [1, 3])
    }

    private func row(_ file: JSONObject) -> [String] {
        [
            file["name"]?.stringValue ?? "", file["seconds"]?.numberValue.map(Self.length) ?? "-",
            file["format"]?.stringValue ?? "-", ByteCount.words(Int(file["bytes"]?.integerValue ?? 0)),
            (file["owner"]?.objectValue ?? [:]).callerName,
        ]
    }

    /// `0:07.5`, `61:02.0`.
    private static func length(_ seconds: Double) -> String {
        let tenths = Int((min(seconds, 1e9) * 10).rounded())
        let (minutes, rest) = (tenths / 600, tenths % 600)
        return "\(minutes):\(rest < 100 ? "0" : "")\(rest / 10).\(rest % 10)"
    }
}

extension JSONObject {
    /// A caller as rules name it: `ann`, or `web:ann`; `uid 1000` for a user without a name.
    var callerName: String {
        let user = self["user"]?.stringValue
        if let gateway = self["gateway"]?.stringValue { return "\(gateway):\(user ?? "")" }
        return user ?? "uid \(self["uid"]?.integerValue ?? 0)"
    }
}

/// A number of bytes for people: `312 B`, `4.7 MB`.
enum ByteCount {
    static func words(_ bytes: Int) -> String {
        var (amount, unit) = (Double(bytes), "B")
        for larger in ["kB", "MB", "GB", "TB"] where amount >= 1000 { (amount, unit) = (amount / 1000, larger) }
        let isShort = unit == "B" || amount >= 100
        return "\(isShort ? "\(Int(amount.rounded()))" : "\((amount * 10).rounded() / 10)") \(unit)"
    }
}

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
        let message = JSONValue.array(parameters).text
        let result = try client.result(of: "media", message: message, before: options.deadline)
        return try result.mapError { ExitError($0) }.get()
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
