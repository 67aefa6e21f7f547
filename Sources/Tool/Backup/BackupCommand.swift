import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux
import QuickConnect

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Saves the settings and data of this device to one file. Needs root.",
        discussion: """
            The file contains the settings folder (with mappings, scripts, macros, procedures, pages and actions), kept \
            values, saved macros with their versions, recorded data, fetched procedures, the allowed actions, and the \
            users of pages. It does not contain the media folder, sessions of pages, or the state of quickconnect-mqtt. The \
            services may keep running.

            The file contains private data. Only its owner can read it.

            Examples:
              sudo quickconnect backup /media/stick/device.tar.gz
              sudo quickconnect restore /media/stick/device.tar.gz
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(
        help: ArgumentHelp("The file to write; an older one is replaced.", valueName: "FILE"),
        completion: .file()
    )
    var file: String

    func run() throws {
        let places = try BackupPlaces.find(for: "backup")
        umask(0o077)
        let (manifest, data) = ("\(file).manifest", "\(file).data")
        defer { for path in [manifest, data] { unlink(path) } }
        let parts = try parts(places, data: data)
        try LocalFile.change(manifest) { () throws(SystemCallError) in
            let text = BackupManifest(parts: parts.map(\.name), hasOneFolder: places.hasOneFolder).text
            try FileText.write(text, to: manifest, mode: 0o600)
        }
        try BackupArchive(path: file).write(parts, manifest: manifest)
        say("\(file): \(parts.map(\.name).joined(separator: ", "))")
        for path in places.elsewhere { note("not in it: \(path), which is outside of \(places.configuration)") }
        if let data = dataElsewhere(places) {
            let remedy = "«quickconnect data backup FILE» copies them"
            note("not in it: the recorded data, in \(data.escapingControls) instead of \(places.data); \(remedy)")
        }
    }

    /// Where a running service has the data, if not where they are looked for.
    private func dataElsewhere(_ places: BackupPlaces) -> String? {
        guard !FileText.exists(places.data), connection.isAnswered,
            let answer = try? connection.dataService("data", ["info"])
        else { return nil }
        return answer.objectValue?["path"]?.stringValue
    }

    /// The existing parts. The service makes a copy of the data, because it may be writing.
    /// - Parameter data: where that copy is copied to: what is read is then what was looked at.
    private func parts(_ places: BackupPlaces, data: String) throws -> [BackupPart] {
        let all = places.parts.filter { $0.isThere && $0.name != "data-shm" }
        guard all.contains(where: { $0.path == places.data }), let copy = try dataCopy() else { return all }
        try DataCopy.copy(copy, ofFileAt: places.data, to: data)
        return all.filter { $0.name != "data-wal" }.map { part in
            part.path == places.data ? BackupPart(name: part.name, path: data) : part
        }
    }

    /// The path of a copy that the service has made; nil if it is not running, so that the file does not change.
    private func dataCopy() throws -> String? {
        guard connection.isAnswered else { return nil }
        do {
            return try connection.dataService("data", ["backup"]).objectValue?["path"]?.stringValue
        } catch let end as ExitError where end.code == CommandError.Code.unavailable.rawValue {
            return nil
        }
    }
}

/// A file or folder that a backup holds, under a name of its own in the archive.
struct BackupPart {
    var name: String
    /// Its path on this device.
    var path: String

    /// Whether there is something to save.
    var isThere: Bool { FileText.exists(path) }
}

/// Where this device stores the parts of a backup.
struct BackupPlaces {
    let configuration: String
    let values: String
    let state: String
    /// Which actions the owner allows on which sites.
    let actions: String
    /// The owner's folders and files that the settings put elsewhere. No backup contains them.
    let elsewhere: [String]

    /// Whether all programs have one `STATE_DIRECTORY`, and keep everything in it: none has a folder of its own.
    var hasOneFolder: Bool

    /// The state folders of the services other than the daemon.
    private func folder(_ service: String) -> String { hasOneFolder ? state : Self.folder(service, beside: state) }

    private static func folder(_ service: String, beside state: String) -> String { "\(state)-\(service)" }

    var data: String { "\(folder("data"))/data.db" }

    /// All that a backup may hold, in the order of the archive. The state of `quickconnect-mqtt` is left out on
    /// purpose: it records recently answered calls and the Home Assistant discovery. An older state would run a call
    /// twice, and another device's state would be wrong.
    var parts: [BackupPart] {
        [
            BackupPart(name: "configuration", path: configuration),
            BackupPart(name: "values", path: values),
            BackupPart(name: "macros", path: "\(folder("scripts"))/macros"),
            BackupPart(name: "macro-versions", path: "\(folder("scripts"))/macro-versions"),
            BackupPart(name: "data", path: data),
            // Data that SQLite has not moved into the file yet; an old log would corrupt a new file.
            BackupPart(name: "data-wal", path: "\(data)-wal"),
            BackupPart(name: "data-shm", path: "\(data)-shm"),
            BackupPart(name: "procedures", path: "\(folder("data"))/procedures"),
            BackupPart(name: "actions", path: actions),
            BackupPart(name: "users", path: "\(folder("web"))/users.json"),
        ]
    }

    /// Asks the daemon's program, because the settings may put things elsewhere.
    /// - Parameter command: the name of the subcommand, for the error of one who is not root.
    static func find(for command: String) throws -> BackupPlaces {
        let variables = ["CONFIGURATION_DIRECTORY", "STATE_DIRECTORY"]
        let environment = OwnProcess.environment
        guard geteuid() == 0 || variables.allSatisfy({ environment[$0] != nil }) else {
            throw ExitError(
                message: """
                    denied: only root reads and writes the files of all services
                    Run «sudo quickconnect \(command) FILE».
                    """
            )
        }
        guard let outcome = Program.run(Program.installed("quickconnectd"), ["--folders"]) else {
            throw ExitError(message: "quickconnectd cannot be run; it is needed to find the files")
        }
        guard outcome.status == 0, let places = BackupPlaces(outcome.output) else {
            let remedy = command == "restore" ? "; what a restore would replace, you can move away first" : ""
            throw ExitError(message: "the settings cannot be read; «quickconnectd --check» says why\(remedy)")
        }
        return places
    }

    private init?(_ text: String) {
        guard let object = (try? JSONParser.parse(text))?.objectValue,
            let configuration = object["configuration"]?.stringValue, let values = object["values"]?.stringValue,
            let state = object["state"]?.stringValue, let actions = object["actions"]?.stringValue
        else { return nil }
        self.configuration = configuration
        self.values = values
        self.state = state
        self.actions = actions
        elsewhere = (object["elsewhere"]?.arrayValue ?? []).compactMap(\.stringValue)
        hasOneFolder =
            OwnProcess.environment["STATE_DIRECTORY"] != nil
            && !["scripts", "data", "web"].contains { FileText.exists(Self.folder($0, beside: state)) }
    }
}
