import ArgumentParser
import CommandLineText
import JSON
import QuickConnect
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

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print JSON, for programs.")
    var json = false

    func run() throws {
        let answer = try connection.call("media", message: JSONValue.array(["list"]).text)
        guard !json else { return say(answer.text) }
        say(MediaTable(answer.arrayValue ?? []).text)
    }
}

struct MediaRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Deletes files.")

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
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column == row.count - 1 ? cell : [1, 3].contains(column) ? space + cell : cell + space
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    private func row(_ file: JSONObject) -> [String] {
        [
            file["name"]?.stringValue ?? "", file["seconds"]?.numberValue.map(Self.length) ?? "-",
            file["format"]?.stringValue ?? "-", ByteCount.words(Int(file["bytes"]?.integerValue ?? 0)),
            Self.owner(file["owner"]?.objectValue ?? [:]),
        ]
    }

    /// `0:07.5`, `61:02.0`.
    private static func length(_ seconds: Double) -> String {
        let tenths = Int((min(seconds, 1e9) * 10).rounded())
        let (minutes, rest) = (tenths / 600, tenths % 600)
        return "\(minutes):\(rest < 100 ? "0" : "")\(rest / 10).\(rest % 10)"
    }

    private static func owner(_ owner: JSONObject) -> String {
        let user = owner["user"]?.stringValue
        if let gateway = owner["gateway"]?.stringValue { return "\(gateway):\(user ?? "")" }
        return user ?? "uid \(owner["uid"]?.integerValue ?? 0)"
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
