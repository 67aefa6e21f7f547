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
            users of pages. It does not contain the media folder, login sessions, or the state of quickconnect-mqtt. The \
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
        do throws(SystemCallError) {
            let text = BackupManifest(parts: parts.map(\.name)).text
            try FileText.write(text, to: manifest, mode: 0o600)
        } catch {
            throw ExitError(message: "\(manifest): \(error)", status: 1)
        }
        try BackupArchive(path: file).write(parts, manifest: manifest)
        say("\(file): \(parts.map(\.name).joined(separator: ", "))")
        for folder in places.elsewhere {
            write(
                "quickconnect: not in it: \(folder), a folder outside of \(places.configuration)\n",
                to: STDERR_FILENO
            )
        }
    }

    /// The existing parts. The service makes a copy of the data, because it may be writing.
    /// - Parameter data: where that copy is copied to: what is read is then what was looked at.
    private func parts(_ places: BackupPlaces, data: String) throws -> [BackupPart] {
        let all = places.parts.filter { $0.isThere && $0.name != "data-shm" }
        guard all.contains(where: { $0.path == places.data }), let copy = try dataCopy() else { return all }
        do throws(DataCopy.Refusal) {
            try DataCopy(copy, ofFileAt: places.data).copy(to: data)
        } catch {
            throw ExitError(message: "the copy of the data is not used: \(error.reason)", status: 1)
        }
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
