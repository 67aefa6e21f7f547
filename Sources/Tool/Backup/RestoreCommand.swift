import ArgumentParser
import CommandLineText
import Glibc
import Linux
import QuickConnect

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restores a backup, on this device or another one. Needs root.",
        discussion: """
            The contents of the file replace the device's settings, mappings, scripts, macros, procedures, values, data, \
            allowed actions and users. The file is checked as a whole first: if it is damaged, comes from a newer version, \
            or has settings that the daemon would refuse, nothing changes. The services are stopped during the restore and \
            started again afterwards. A restore that a power cut ends is taken back at the next boot.

            Examples:
              sudo quickconnect restore --check device.tar.gz     only checks it
              sudo quickconnect restore device.tar.gz
              sudo quickconnect restore --undo                    takes back one that was cut off
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Check the file, and change nothing.")
    var check = false

    @Flag(help: "Take back a restore that a power cut or a kill has ended, as the services do at a boot.")
    var undo = false

    @Argument(help: ArgumentHelp("A file written by backup.", valueName: "FILE"), completion: .file())
    var file: String?

    func validate() throws {
        guard (file == nil) != undo else { return }
        throw ValidationError(undo ? "--undo takes no FILE." : "FILE is missing.")
    }

    func run() throws {
        guard let file else { return try undoOnly(StandardFolders().state) }
        let places = try BackupPlaces.find(for: "restore")
        umask(0o077)
        let lock = try lock(places.state)
        if !check { _ = try undoCutOff(places.state) }
        try restore(file, places, lock)
    }

    /// Another restore of these files ends first.
    private func lock(_ state: String) throws -> Int32 {
        do throws(SystemCallError) {
            try Folders.make(Folders.parent(of: state) ?? "/")
            return try RestoreJournal.lock(state)
        } catch {
            throw ExitError(message: "nothing was changed beside \(state): \(error)")
        }
    }

    private func undoOnly(_ state: String) throws {
        let nothing = "No restore was cut off."
        guard RestoreJournal.isLeft(beside: state) else { return say(nothing) }
        let lock = try lock(state)
        defer { close(lock) }
        // One that was running may have ended meanwhile.
        if try !undoCutOff(state) { say(nothing) }
        RestoreJournal.removeDrafts(state)
    }

    /// - Returns: whether there was one.
    private func undoCutOff(_ state: String) throws -> Bool {
        guard let cutOff = try RestoreJournal(leftBeside: state) else { return false }
        try cutOff.undo()
        note("a restore that was cut off has been taken back: all is as it was before")
        return true
    }

    private func restore(_ file: String, _ found: BackupPlaces, _ lock: Int32) throws {
        var places = found
        do {
            let archive = BackupArchive(path: file)
            let manifest = try archive.manifest()
            // What the backup has not looked for is neither replaced nor removed.
            places.hasOneFolder = places.hasOneFolder && manifest.hasOneFolder
            let restoration = try Restoration(places, manifest)
            defer { restoration.removeStaging() }
            try archive.extract(into: restoration.staging)
            try restoration.check()
            let list = manifest.parts.joined(separator: ", ")
            guard !check else { return say("\(file), of version \(manifest.version), can be restored: \(list)") }
            try replace(restoration, lock)
            say("Restored: \(list)")
        } catch let problem as PlainError {
            throw ExitError(message: "\(file) is not restored, and nothing was changed: \(problem)")
        }
    }

    private func replace(_ restoration: Restoration, _ lock: Int32) throws {
        // A terminal that is closed does not end it.
        for number in [SIGHUP, SIGINT, SIGTERM] { signal(number, SIG_IGN) }
        let services = Services()
        services.stop()
        defer {
            // Before they start, they wait until no restore is left to take back.
            close(lock)
            services.start()
        }
        guard !connection.isAnswered else {
            throw PlainError("a daemon still answers, which would write over it; stop it first")
        }
        try restoration.replace()
    }
}

/// The units of this project that run now, where systemd runs them.
struct Services {
    private let units: [String]

    /// Empty if other folders than the system's are restored, or systemd is not running.
    init() {
        let isSystem = OwnProcess.environment["STATE_DIRECTORY"] == nil
        let list = ["list-units", "--plain", "--no-legend", "--state=active,activating", "quickconnect*"]
        let lines = isSystem ? Program.output(of: "systemctl", list)?.split(separator: "\n") ?? [] : []
        units = lines.compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    func stop() { if !units.isEmpty { _ = Program.run("systemctl", ["stop"] + units) } }

    func start() {
        // One that is started by its socket or timer is started again by it.
        guard !units.isEmpty, Program.run("systemctl", ["start"] + units)?.status != 0 else { return }
        note("not all services started again; see «systemctl status 'quickconnect*'»")
    }
}

/// Replaces the device's files by the parts of a backup: all of them, or none.
struct Restoration {
    /// Those that the backup may hold, and whether it does.
    private let parts: [(part: BackupPart, isInBackup: Bool)]
    private let journal: RestoreJournal

    init(_ places: BackupPlaces, _ manifest: BackupManifest) throws(PlainError) {
        let known = places.parts
        if let name = manifest.parts.first(where: { name in !known.contains { $0.name == name } }) {
            throw PlainError("it holds '\(name.shortened)', which this version does not know")
        }
        parts = known.map { ($0, manifest.parts.contains($0.name)) }
        journal = RestoreJournal(state: places.state, parts: parts.map { RestoreJournal.Part(path: $0.part.path) })
        // One that was cut off before it changed anything has left it.
        removeStaging()
        guard mkdir(staging, 0o700) == 0 else {
            throw PlainError("it cannot be unpacked in \(staging): \(SystemCallError.text(errno))")
        }
    }

    /// Where the backup is unpacked.
    var staging: String { journal.staging }
    func removeStaging() { RestoreJournal.remove(staging) }

    /// Checks that the daemon would start with these settings, and that the data are a database.
    func check() throws(PlainError) {
        for (part, isInBackup) in parts where isInBackup && !FileText.exists("\(staging)/\(part.name)") {
            throw PlainError("its part '\(part.name)' is missing")
        }
        try checkData()
        guard FileText.exists("\(staging)/configuration") else { return }
        var environment = OwnProcess.environment.filter { !$0.key.hasPrefix("QUICKCONNECT_") }
        environment["CONFIGURATION_DIRECTORY"] = "\(staging)/configuration"
        let daemon = Program.installed("quickconnectd")
        guard let outcome = Program.run(daemon, ["--check"], environment: environment, takesErrors: true) else {
            throw PlainError("quickconnectd cannot be run, which checks the settings")
        }
        guard outcome.status == 0 else {
            throw PlainError("the daemon would not start with its settings:\n\(outcome.output)")
        }
    }

    private func checkData() throws(PlainError) {
        let file = "\(staging)/data"
        guard FileText.exists(file) else { return }
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        defer { close(descriptor) }
        var start = [UInt8](repeating: 0, count: 16)
        guard read(descriptor, &start, start.count) == start.count, start == Array("SQLite format 3\0".utf8) else {
            throw PlainError("its data is not an SQLite database")
        }
    }

    /// Replaces the present files. Everything that can fail for lack of space or rights is done before the first
    /// rename; if a rename fails, or a power cut ends it, the earlier ones are undone.
    func replace() throws {
        // Leftovers of an earlier restore must not be taken for parts of this one.
        for leftover in journal.parts.flatMap({ [$0.new, $0.old] }) where !RestoreJournal.remove(leftover) {
            throw PlainError("\(leftover), of an earlier restore, cannot be removed")
        }
        do throws(PlainError) {
            for (part, isInBackup) in parts where isInBackup { try copy(part) }
        } catch {
            for part in journal.parts { RestoreJournal.remove(part.new) }
            throw error
        }
        do throws(SystemCallError) {
            try journal.begin()
        } catch {
            throw PlainError("\(journal.path) cannot be written: \(error)")
        }
        do throws(PlainError) {
            for (part, (_, isInBackup)) in zip(journal.parts, parts) { try swap(part, isInBackup) }
        } catch {
            try journal.undo()
            throw error
        }
        journal.end()
        for part in journal.parts { RestoreJournal.remove(part.old) }
    }

    /// Copies a part next to its destination, which may be on another file system.
    private func copy(_ part: BackupPart) throws(PlainError) {
        do throws(SystemCallError) {
            if let folder = Folders.parent(of: part.path) { try Folders.make(folder) }
        } catch {
            throw PlainError("the folder of \(part.path) cannot be made: \(error)")
        }
        let arguments = ["--archive", "--no-target-directory", "\(staging)/\(part.name)", "\(part.path).restored"]
        guard let outcome = Program.run("cp", arguments, takesErrors: true), outcome.status == 0 else {
            throw PlainError("\(part.path).restored cannot be written")
        }
    }

    private func swap(_ part: RestoreJournal.Part, _ isInBackup: Bool) throws(PlainError) {
        if rename(part.path, part.old) != 0, errno != ENOENT {
            throw PlainError("\(part.path) cannot be replaced: \(SystemCallError.text(errno))")
        }
        if isInBackup, rename(part.new, part.path) != 0 {
            throw PlainError("\(part.path) cannot be put in place: \(SystemCallError.text(errno))")
        }
    }
}
