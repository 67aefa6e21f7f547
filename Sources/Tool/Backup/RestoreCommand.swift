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
            started again afterwards.

            Examples:
              sudo quickconnect restore --check device.tar.gz     only checks it
              sudo quickconnect restore device.tar.gz
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Check the file, and change nothing.")
    var check = false

    @Argument(help: ArgumentHelp("A file written by backup.", valueName: "FILE"), completion: .file())
    var file: String

    func run() throws {
        let places = try BackupPlaces.find(for: "restore")
        umask(0o077)
        do throws(BackupManifest.Refusal) {
            let archive = BackupArchive(path: file)
            let manifest = try archive.manifest()
            let restoration = try Restoration(places, manifest)
            defer { restoration.removeStaging() }
            try archive.extract(into: restoration.staging)
            try restoration.check()
            let list = manifest.parts.joined(separator: ", ")
            guard !check else { return say("\(file), of version \(manifest.version), can be restored: \(list)") }
            try replace(restoration)
            say("Restored: \(list)")
        } catch {
            throw ExitError(message: "\(file) is not restored, and nothing was changed: \(error.reason)", status: 1)
        }
    }

    private func replace(_ restoration: Restoration) throws(BackupManifest.Refusal) {
        let services = Services()
        services.stop()
        defer { services.start() }
        guard !connection.isAnswered else {
            throw BackupManifest.Refusal("a daemon still answers, which would write over it; stop it first")
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
        write(
            "quickconnect: not all services started again; see «systemctl status 'quickconnect*'»\n",
            to: STDERR_FILENO
        )
    }
}
