import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux
import QuickConnectClient

struct DataCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "data",
        abstract: "Manages the recorded data of stored procedures. Needs root.",
        discussion: """
            Examples:
              quickconnect data info
              quickconnect data backup /media/stick/data.db
              quickconnect data export entries.jsonl
              quickconnect data import < entries.jsonl
            """,
        subcommands: [
            DataInfoCommand.self, DataBackupCommand.self, DataExportCommand.self, DataImportCommand.self,
        ]
    )
}

struct DataInfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Prints the number of entries, their kinds, and their size."
    )

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print JSON, for programs.")
    var json = false

    func run() throws {
        let answer = try connection.dataService("data", ["info"])
        guard !json else { return say(answer.text) }
        let object = answer.objectValue ?? [:]
        let bytes = object["bytes"]?.integerValue ?? 0
        say(
            "\(object["entries"]?.text ?? "0") entries, \((bytes + 1023) >> 10) KiB: \(object["path"]?.stringValue ?? "")"
        )
        let rows = (object["kinds"]?.arrayValue ?? []).compactMap(\.objectValue).map { kind in
            [
                kind["kind"]?.stringValue ?? "",
                "\(kind["entries"]?.text ?? "0") from \(kind["oldest"]?.stringValue ?? "") to \(kind["newest"]?.stringValue ?? "")",
            ]
        }
        if !rows.isEmpty { say(Table.text(rows, width: Terminal.width)) }
    }
}

struct DataBackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies the data while it is in use, and prints the path of the copy."
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: ArgumentHelp("Another file to copy it to.", valueName: "FILE"), completion: .file())
    var file: String?

    func run() throws {
        let answer = try connection.dataService("data", ["backup"])
        guard let path = answer.objectValue?["path"]?.stringValue else {
            throw ExitError(message: "the service did not say where the backup is", status: 1)
        }
        guard let file else { return say(path) }
        let data = "\(Folders.parent(of: Folders.parent(of: path) ?? "") ?? "")/data.db"
        do throws(DataCopy.Refusal) {
            try DataCopy(path, ofFileAt: data).copy(to: file, isOwn: false)
        } catch {
            throw ExitError(message: "the copy of the data is not used: \(error.reason)", status: 1)
        }
        say(file)
    }
}

/// A private copy of a file.
enum FileCopy {
    /// - Parameters:
    ///   - copy: its path; what is there is replaced.
    ///   - isOwn: whether no link there is followed, because the caller has not chosen the name.
    static func make(ofOpen source: Int32, at copy: String, isOwn: Bool) throws(SystemCallError) {
        // A file that somebody has made there would keep its owner.
        if isOwn { unlink(copy) }
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (isOwn ? O_NOFOLLOW | O_EXCL : 0)
        let target = try SystemCallError.check("open") { open(copy, flags, 0o600) }
        defer { close(target) }
        while case let count = sendfile(target, source, nil, 1 << 20), count != 0 {
            guard count > 0 || errno == EINTR else { throw SystemCallError("sendfile") }
        }
        try SystemCallError.check("fsync") { fsync(target) }
    }
}

struct DataExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes all entries as JSON, one per line."
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: ArgumentHelp("The file (default: standard output).", valueName: "FILE"), completion: .file())
    var file: String?

    func run() throws {
        var output = STDOUT_FILENO
        if let file {
            output = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard output >= 0 else { throw ExitError(message: "\(file): \(SystemCallError.text(errno))", status: 1) }
        }
        var last: JSONValue = 0
        while case let page = try connection.dataService("data", ["export", ["after": last]]).objectValue ?? [:],
            let next = page["next"], next != .null
        {
            let lines = (page["entries"]?.arrayValue ?? []).map { "\($0.text)\n" }.joined()
            let code = Descriptor.write(lines, to: output)
            guard code == 0 else {
                throw ExitError(message: "\(file ?? "standard output"): \(SystemCallError.text(code))", status: 1)
            }
            last = next
        }
    }
}

struct DataImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Reads entries in the format of export, one per line.",
        discussion: """
            Entries that already exist are skipped. Entries are imported in batches: if a line is invalid, its batch is not \
            imported; earlier batches are.
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: ArgumentHelp("The file (default: standard input).", valueName: "FILE"), completion: .file())
    var file: String?

    /// Of one call.
    private static let pageBytes = 1 << 20

    func run() throws {
        if let file {
            let input = open(file, O_RDONLY | O_CLOEXEC)
            guard input >= 0, dup2(input, STDIN_FILENO) >= 0 else {
                throw ExitError(message: "\(file): \(SystemCallError.text(errno))", status: 1)
            }
        }
        var page: [JSONValue] = []
        var (bytes, number, isNew, isThere) = (0, 0, Int64(0), Int64(0))
        func send() throws {
            guard !page.isEmpty else { return }
            let answer = try connection.dataService("data", ["import", .array(page)]).objectValue ?? [:]
            isNew += answer["new"]?.integerValue ?? 0
            isThere += answer["there"]?.integerValue ?? 0
            (page, bytes) = ([], 0)
        }
        while let line = readLine() {
            number += 1
            guard !line.isEmpty else { continue }
            do {
                page.append(try JSONParser.parse(line))
            } catch {
                throw ExitError(message: "line \(number) is not JSON: \(error.message)", status: 1)
            }
            bytes += line.utf8.count
            if page.count == 500 || bytes > Self.pageBytes { try send() }
        }
        try send()
        say("\(isNew) new entries, \(isThere) were there.")
    }
}
