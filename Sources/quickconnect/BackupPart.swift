import CommandLineText
import Glibc
import JSON
import Linux

/// A file or folder that a backup holds, under a name of its own in the archive.
struct BackupPart {
    var name: String
    /// Where it lies on this device.
    var path: String

    /// Whether there is something to save.
    var isThere: Bool { FileText.exists(path) }
}

/// Where this device keeps what a backup holds.
struct BackupPlaces {
    let configuration: String
    let values: String
    let state: String
    /// Which actions the owner allows on which sites.
    let actions: String
    /// Folders of the owner's that the settings name elsewhere, which no backup holds.
    let elsewhere: [String]

    /// The state folders that the services have besides the daemon's own: `STATE-scripts` and so on.
    private func folder(_ service: String) -> String { "\(state)-\(service)" }

    var data: String { "\(folder("data"))/data.db" }

    /// All that a backup may hold, in the order of the archive. What `quickconnect-mqtt` keeps is left out on purpose: it
    /// says which calls this device has answered of late and what it has told Home Assistant. An older state of that
    /// would run a call twice; another device's would be wrong altogether.
    var parts: [BackupPart] {
        [
            BackupPart(name: "configuration", path: configuration),
            BackupPart(name: "values", path: values),
            BackupPart(name: "macros", path: "\(folder("scripts"))/macros"),
            BackupPart(name: "macro-versions", path: "\(folder("scripts"))/macro-versions"),
            BackupPart(name: "data", path: data),
            // What SQLite has not written into the file yet belongs to it; an old one would spoil a new file.
            BackupPart(name: "data-wal", path: "\(data)-wal"),
            BackupPart(name: "data-shm", path: "\(data)-shm"),
            BackupPart(name: "procedures", path: "\(folder("data"))/procedures"),
            BackupPart(name: "actions", path: actions),
            BackupPart(name: "users", path: "\(folder("web"))/users.json"),
        ]
    }

    /// Asks the daemon's program, which reads the settings: a setting may have moved things.
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
            throw ExitError(message: "quickconnectd cannot be run, which knows where everything lies", status: 1)
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
