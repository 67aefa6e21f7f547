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
                ["--create", "--gzip", "--absolute-names", "--hard-dereference", "--sort=name", "--file", partial]
                    + names + all.map(\.path)
            )
            guard rename(partial, path) == 0 else {
                throw ExitError(message: "\(path): \(SystemCallError.text(errno))", status: 1)
            }
            try FileText.syncFolder(of: path)
        } catch {
            unlink(partial)
            throw error
        }
    }

    /// The manifest of the archive. Reads the whole archive first, because its checksum is at the end.
    func manifest() throws(BackupManifest.Refusal) -> BackupManifest {
        let list = try read(["--list"])
        let names = list.split(separator: "\n").map(String.init)
        guard names.first == BackupManifest.name else {
            throw BackupManifest.Refusal("its first file is not \(BackupManifest.name)")
        }
        let manifest = try BackupManifest(reading: read(["--extract", "--to-stdout"], [BackupManifest.name]))
        for name in names.dropFirst() {
            let components = name.split(separator: "/", omittingEmptySubsequences: false)
            guard let part = components.first, manifest.parts.contains(String(part)), !components.contains("..") else {
                throw BackupManifest.Refusal(
                    "it holds '\(name.shortened)', which its \(BackupManifest.name) does not name"
                )
            }
        }
        return manifest
    }

    /// Unpacks all of it into a folder.
    func extract(into folder: String) throws(BackupManifest.Refusal) {
        _ = try read(["--extract", "--preserve-permissions", "--directory", folder])
    }

    private func read(_ verb: [String], _ names: [String] = []) throws(BackupManifest.Refusal) -> String {
        let arguments = verb + ["--gzip", "--file", path] + names
        guard let outcome = Program.run("tar", arguments) else {
            throw BackupManifest.Refusal("the program tar cannot be run")
        }
        guard outcome.status != 0 else { return outcome.output }
        // Runs tar again for its error text, which would otherwise be mixed with the listed names.
        let words = Program.run("tar", arguments, takesErrors: true)?.output.split(separator: "\n") ?? []
        let reason = words.first { $0.hasPrefix("tar") || $0.hasPrefix("gzip:") }
        throw BackupManifest.Refusal("it cannot be read: \(reason ?? "tar failed")")
    }

    private func tar(_ arguments: [String]) throws {
        guard let outcome = Program.run("tar", arguments, takesErrors: true) else {
            throw ExitError(message: "the program tar cannot be run", status: 1)
        }
        guard outcome.status == 0 else {
            let reason = outcome.output.split(separator: "\n").first.map(String.init) ?? "tar failed"
            throw ExitError(message: "\(path): \(reason)", status: 1)
        }
    }

    /// The expression by which tar gives a part its name in the archive: of the paths, and not of where links lead.
    private static func renaming(_ part: BackupPart) -> String {
        let path = part.path.map { #".[]*^$\,"#.contains($0) ? "\\\($0)" : "\($0)" }.joined()
        return #"s,^\#(path)\(/\|$\),\#(part.name)\1,rSH"#
    }
}
