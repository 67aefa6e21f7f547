import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux
import QuickConnect

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

    @OptionGroup var output: AnswerOptions

    func run() throws {
        guard let answer = output.forPeople(try output.connection.dataService("data", ["info"])) else { return }
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
            throw ExitError(message: "the service did not say where the backup is")
        }
        guard let file else { return say(path) }
        let data = "\(Folders.parent(of: Folders.parent(of: path) ?? "") ?? "")/data.db"
        try DataCopy.copy(path, ofFileAt: data, to: file, isOwn: false)
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
            guard output >= 0 else { throw ExitError(message: "\(file): \(SystemCallError.text(errno))") }
        }
        var last: JSONValue = 0
        while case let page = try connection.dataService("data", ["export", ["after": last]]).objectValue ?? [:],
            let next = page["next"], next != .null
        {
            let lines = (page["entries"]?.arrayValue ?? []).map { "\($0.text)\n" }.joined()
            let code = Descriptor.write(lines, to: output)
            guard code == 0 else {
                throw ExitError(message: "\(file ?? "standard output"): \(SystemCallError.text(code))")
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
            Entries whose id is there already are skipped; one without an id is new each time. Entries are imported in batches: if a line is invalid, its batch is not \
            imported; earlier batches are.
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: ArgumentHelp("The file (default: standard input).", valueName: "FILE"), completion: .file())
    var file: String?

    /// Of one call.
    private static let pageBytes = 1 << 20

    func run() throws {
        let name = file ?? "standard input"
        guard let input = file.map({ fopen($0, "re") }) ?? fdopen(STDIN_FILENO, "r") else {
            throw ExitError(message: "\(name): \(SystemCallError.text(errno))")
        }
        var (line, capacity) = (UnsafeMutablePointer<CChar>?.none, 0)
        defer {
            free(line)
            fclose(input)
        }
        /// Without its end.
        func nextLine() throws -> [UInt8]? {
            let count = getline(&line, &capacity, input)
            guard count >= 0, let line else {
                guard ferror(input) == 0 else { throw ExitError(message: "\(name): \(SystemCallError.text(errno))") }
                return nil
            }
            var bytes = UnsafeRawBufferPointer(start: line, count: count)[...]
            for end in [UInt8(ascii: "\n"), UInt8(ascii: "\r")] where bytes.last == end { bytes.removeLast() }
            return Array(bytes)
        }
        var page: [JSONValue] = []
        var (bytes, number, isNew, isThere) = (0, 0, Int64(0), Int64(0))
        var first = 1
        func send() throws {
            guard !page.isEmpty else { return }
            let answer: JSONObject
            do {
                answer = try connection.dataService("data", ["import", .array(page)]).objectValue ?? [:]
            } catch var error as ExitError where error.code == "invalid" {
                error.message += " (in lines \(first) to \(number))"
                throw error
            }
            first = number + 1
            isNew += answer["new"]?.integerValue ?? 0
            isThere += answer["there"]?.integerValue ?? 0
            (page, bytes) = ([], 0)
        }
        while let bytesOfLine = try nextLine() {
            guard let text = String(validating: bytesOfLine, as: UTF8.self) else {
                throw ExitError(message: "line \(number + 1) is not UTF-8")
            }
            // Lines that end with CR alone come as one.
            for line in FileText.plain(text).split(separator: "\n", omittingEmptySubsequences: false) {
                number += 1
                guard !line.isEmpty else { continue }
                do {
                    page.append(try JSONParser.parse(String(line)))
                } catch {
                    throw ExitError(message: "line \(number) is not JSON: \(error.message)")
                }
                bytes += line.utf8.count
                if page.count == 500 || bytes > Self.pageBytes { try send() }
            }
        }
        try send()
        say("\(isNew) new entries, \(isThere) were there.")
    }
}

/// The copy of the data that the service says it has made. Root reads it, and anybody might have answered in the service's
/// place: so it must be a file of the service, in the service's own folder.
struct DataCopy {
    private let path: String
    /// The folder of the service's data.
    private let folder: String
    /// Its name below the folder: `backups/NAME.db`.
    private let name: String

    /// Copies it to a private file, or ends the program.
    /// - Parameters:
    ///   - data: the path of the service's data.
    ///   - isOwn: whether no link in the target's place is followed.
    static func copy(_ path: String, ofFileAt data: String, to target: String, isOwn: Bool = true) throws(ExitError) {
        do throws(PlainError) { try DataCopy(path, ofFileAt: data).copy(to: target, isOwn: isOwn) } catch {
            throw ExitError(message: "the copy of the data is not used: \(error)")
        }
    }

    private init(_ path: String, ofFileAt data: String) throws(PlainError) {
        let folder = Folders.parent(of: data) ?? "/"
        let parts = path.dropFirst(folder.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard path.hasPrefix("\(folder)/"), parts.count == 2, parts[0] == "backups", !parts[1].hasPrefix("."),
            parts[1].hasSuffix(".db"), !path.utf8.contains(0)
        else { throw PlainError("'\(path.shortened)' is not a file in \(folder)/backups") }
        (self.path, self.folder) = (path, folder)
        name = parts.joined(separator: "/")
    }

    /// Copies it, to a private file. Nothing that is a link, another user's, or in a folder that others can write to is
    /// read.
    private func copy(to target: String, isOwn: Bool) throws(PlainError) {
        // Itself it may be a link: the owner's, to another disk.
        let root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { throw failure(folder, errno) }
        defer { close(root) }
        let owner = try status(of: root, folder, kind: S_IFDIR).st_uid
        let backups = openat(root, "backups", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard backups >= 0 else { throw failure("\(folder)/backups", errno) }
        defer { close(backups) }
        try check(backups, "\(folder)/backups", kind: S_IFDIR, owner: owner)
        let file = openat(backups, String(name.dropFirst(8)), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw failure(path, errno) }
        defer { close(file) }
        try check(file, path, kind: S_IFREG, owner: owner)
        do throws(SystemCallError) { try FileCopy.make(ofOpen: file, at: target, isOwn: isOwn) } catch {
            throw PlainError("\(path) → \(target): \(error)")
        }
    }

    private func failure(_ path: String, _ code: Int32) -> PlainError {
        let text = [ELOOP, ENOTDIR].contains(code) ? "is a link" : SystemCallError.text(code)
        return PlainError("\(path): \(text)")
    }

    private func status(of descriptor: Int32, _ path: String, kind: mode_t) throws(PlainError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path, errno) }
        guard status.st_mode & S_IFMT == kind else {
            throw PlainError("\(path) is not a \(kind == S_IFREG ? "regular file" : "folder")")
        }
        guard status.st_mode & 0o022 == 0 else { throw PlainError("\(path) can be changed by others") }
        return status
    }

    private func check(_ descriptor: Int32, _ path: String, kind: mode_t, owner: uid_t) throws(PlainError) {
        let status = try status(of: descriptor, path, kind: kind)
        guard status.st_uid == owner else {
            throw PlainError("\(path) belongs to user \(status.st_uid), and the service's folder to user \(owner)")
        }
        guard kind != S_IFREG || status.st_nlink == 1 else {
            throw PlainError("\(path) has \(status.st_nlink) names, and may be a file of elsewhere")
        }
    }
}
