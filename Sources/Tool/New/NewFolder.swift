import CommandLineText
import Glibc
import Linux

/// The folder of a new project: all of it is written beside its place, and then gets its name in one step.
struct NewFolder {
    private let project: NewProject
    private let templates: String

    private static let maximumBytes = 1 << 20

    init(_ project: NewProject, templates: String) {
        (self.project, self.templates) = (project, templates)
    }

    /// Makes it in the current folder.
    /// - Returns: the paths of its files in it, sorted.
    func make() throws(ExitError) -> [String] {
        let name = project.name
        let isTaken = ExitError(message: "\(name) is here already, and stays as it is: take another name")
        guard !FileText.exists(name), !FileText.isLink(name) else { throw isTaken }
        let files = try files()
        // Ctrl-C waits until the folder is whole or gone.
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        sigprocmask(SIG_BLOCK, &signals, nil)
        defer { sigprocmask(SIG_UNBLOCK, &signals, nil) }
        do throws(SystemCallError) {
            let folder = try Folders.makeTemporary(".\(name)")
            do throws(SystemCallError) {
                try write(files, to: folder)
                try SystemCallError.check("rename") { rename(folder, name) }
            } catch {
                remove(files, folder)
                throw error
            }
        } catch {
            // Somebody else may have made it meanwhile.
            throw [EEXIST, ENOTEMPTY, ENOTDIR].contains(error.code) ? isTaken : ExitError(local: name, error)
        }
        return files.map(\.path).sorted()
    }

    // MARK: What it consists of

    /// The text of its file of mappings.
    func mapping() throws(ExitError) -> String { try files().first { $0.path == "\(project.name).yaml" }?.text ?? "" }

    private typealias File = (path: String, text: String, isProgram: Bool)

    private func files() throws(ExitError) -> [File] {
        var files: [File] = []
        for template in project.templates {
            let folder = "\(templates)/\(template)"
            for path in try paths(in: folder) {
                let text = try LocalFile.text("\(folder)/\(path)", maximumBytes: Self.maximumBytes)
                let path = project.filled(path)
                let first = project.interpreter(of: path)
                files.append((path, (first.map { "\($0)\n" } ?? "") + project.filled(text), first != nil))
            }
        }
        guard let client = project.client else { return files }
        guard let path = client.paths.first(where: FileText.exists) else {
            let install = "Install the package \(client.package): sudo apt install \(client.package)"
            throw ExitError(message: "the client \(client.paths[0]) is missing. \(install)")
        }
        return files + [(client.name, try LocalFile.text(path, maximumBytes: Self.maximumBytes), false)]
    }

    /// The files below a folder.
    private func paths(in folder: String) throws(ExitError) -> [String] {
        guard let names = FileText.names(in: folder) else {
            throw ExitError(local: folder, SystemCallError("opendir"))
        }
        var paths: [String] = []
        for name in names where !name.hasPrefix(".") {
            if FileText.isFile("\(folder)/\(name)") {
                paths.append(name)
            } else {
                paths += try self.paths(in: "\(folder)/\(name)").map { "\(name)/\($0)" }
            }
        }
        return paths
    }

    // MARK: On the disk

    private func write(_ files: [File], to folder: String) throws(SystemCallError) {
        for (path, text, isProgram) in files {
            let path = "\(folder)/\(path)"
            if let parent = Folders.parent(of: path) { try Folders.make(parent, mode: 0o777) }
            try FileText.write(text, to: path, mode: isProgram ? 0o777 : 0o666)
        }
        let mask = umask(0)
        umask(mask)
        try SystemCallError.check("chmod") { chmod(folder, 0o777 & ~mask) }
        try FileText.syncFolder(of: folder)
    }

    private func remove(_ files: [File], _ folder: String) {
        for (path, _, _) in files {
            unlink("\(folder)/\(path)")
            if let parent = Folders.parent(of: path) { rmdir("\(folder)/\(parent)") }
        }
        rmdir(folder)
    }
}
