import CommandLineText
import Glibc
import JSON
import Linux
import QuickConnect

/// A backup's file: a compressed archive that the program tar makes and reads.
struct BackupArchive {
    let path: String

    /// Writes a new archive, completely or not at all.
    /// - Parameter manifest: the path of the file that becomes its first.
    func write(_ parts: [BackupPart], manifest: String) throws {
        let partial = "\(path).partial"
        unlink(partial)
        let all = [BackupPart(name: BackupManifest.name, path: manifest)] + parts
        let names = all.flatMap { ["--transform", Self.renaming($0)] }
        do {
            try tar(
                [
                    "--create", "--gzip", "--force-local", "--absolute-names", "--hard-dereference", "--sort=name",
                    "--file", partial,
                ]
                    + names + all.map(\.path)
            )
            guard rename(partial, path) == 0 else {
                throw ExitError(message: "\(path): \(SystemCallError.text(errno))")
            }
            try FileText.syncFolder(of: path)
        } catch {
            unlink(partial)
            throw error
        }
    }

    /// The manifest of the archive. Reads the whole archive first, because its checksum is at the end.
    func manifest() throws(PlainError) -> BackupManifest {
        let list = try read(["--list"])
        let names = list.split(separator: "\n").map(String.init)
        guard names.first == BackupManifest.name else {
            throw PlainError("its first file is not \(BackupManifest.name)")
        }
        let manifest = try BackupManifest(reading: read(["--extract", "--to-stdout"], [BackupManifest.name]))
        for name in names.dropFirst() {
            let components = name.split(separator: "/", omittingEmptySubsequences: false)
            guard let part = components.first, manifest.parts.contains(String(part)), !components.contains("..") else {
                throw PlainError("it holds '\(name.shortened)', which its \(BackupManifest.name) does not name")
            }
        }
        return manifest
    }

    /// Unpacks all of it into a folder.
    func extract(into folder: String) throws(PlainError) {
        _ = try read(["--extract", "--preserve-permissions", "--directory", folder])
    }

    private func read(_ verb: [String], _ names: [String] = []) throws(PlainError) -> String {
        let arguments = verb + ["--gzip", "--force-local", "--file", path] + names
        guard let outcome = Program.run("tar", arguments) else { throw PlainError("the program tar cannot be run") }
        guard outcome.status != 0 else { return outcome.output }
        // Runs tar again for its error text, which would otherwise be mixed with the listed names.
        let words = Program.run("tar", arguments, takesErrors: true)?.output.split(separator: "\n") ?? []
        let reason = words.first { $0.hasPrefix("tar") || $0.hasPrefix("gzip:") }
        throw PlainError("it cannot be read: \(reason ?? "tar failed")")
    }

    private func tar(_ arguments: [String]) throws {
        guard let outcome = Program.run("tar", arguments, takesErrors: true) else {
            throw ExitError(message: "the program tar cannot be run")
        }
        guard outcome.status == 0 else {
            let reason = outcome.output.split(separator: "\n").first.map(String.init) ?? "tar failed"
            throw ExitError(message: "\(path): \(reason)")
        }
    }

    /// The expression by which tar gives a part its name in the archive: of the paths, and not of where links lead.
    private static func renaming(_ part: BackupPart) -> String {
        let path = part.path.map { #".[]*^$\,"#.contains($0) ? "\\\($0)" : "\($0)" }.joined()
        return #"s,^\#(path)\(/\|$\),\#(part.name)\1,rSH"#
    }
}

/// The description of a backup: `{"format": 1, "version": "…", "parts": ["configuration", …], "hasOneFolder": false}`, the
/// first file of the archive.
struct BackupManifest {
    static let name = "manifest.json"
    /// The format of the archive. It changes when an older program could not read it.
    static let format: Int64 = 1

    /// Of the program that made it.
    var version: String
    var parts: [String]
    /// See ``BackupPlaces/hasOneFolder``. Backups that do not say it looked only beside the daemon's folder.
    var hasOneFolder: Bool

    init(parts: [String], hasOneFolder: Bool) {
        version = ProjectVersion.text
        (self.parts, self.hasOneFolder) = (parts, hasOneFolder)
    }

    /// - Throws: why a backup with this manifest cannot be restored here.
    init(reading text: String) throws(PlainError) {
        guard let object = (try? JSONParser.parse(text))?.objectValue, let format = object["format"]?.integerValue,
            let version = object["version"]?.stringValue, let parts = object["parts"]?.arrayValue
        else { throw PlainError("its \(Self.name) is not that of a backup") }
        let names = parts.compactMap(\.stringValue)
        guard names.count == parts.count else { throw PlainError("its \(Self.name) names parts that are not strings") }
        guard let numbers = Self.numbers(version), let own = Self.numbers(ProjectVersion.text) else {
            throw PlainError("its \(Self.name) has the version '\(version.shortened)', which is not a version")
        }
        guard format <= Self.format, !own.lexicographicallyPrecedes(numbers) else {
            throw PlainError(
                "it was made by version \(version.shortened), and this is \(ProjectVersion.text): upgrade, then restore it"
            )
        }
        (self.version, self.parts, hasOneFolder) = (version, names, object["hasOneFolder"] == true)
    }

    var text: String {
        let object: JSONObject = [
            "format": .integer(Self.format), "version": .string(version), "parts": .array(parts.map(JSONValue.string)),
            "hasOneFolder": .bool(hasOneFolder),
        ]
        return JSONValue.object(object).text + "\n"
    }

    /// `0.1.0` as `[0, 1, 0]`.
    private static func numbers(_ version: String) -> [Int]? {
        let parts = version.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }
        return parts.count == 3 && numbers.count == 3 && numbers.allSatisfy { $0 >= 0 } ? numbers : nil
    }
}
