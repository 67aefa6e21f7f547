import CommandLineText
import Glibc
import JSON
import Linux

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
    /// The owner's folders that the settings put elsewhere. No backup contains them.
    let elsewhere: [String]

    /// The state folders of the services other than the daemon: `STATE-scripts` and so on.
    private func folder(_ service: String) -> String { "\(state)-\(service)" }

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
                    """,
                status: 1
            )
        }
        guard let outcome = Program.run(Program.installed("quickconnectd"), ["--folders"]) else {
            throw ExitError(message: "quickconnectd cannot be run; it is needed to find the files", status: 1)
        }
        guard outcome.status == 0, let places = BackupPlaces(outcome.output) else {
            throw ExitError(message: "the settings cannot be read; «quickconnectd --check» says why", status: 1)
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
    }
}
