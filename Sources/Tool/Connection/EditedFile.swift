import CommandLineText
import Glibc
import Linux
import QuickConnect

/// The file that the editor is given.
struct EditedFile {
    let path: String

    /// The prefix of lines with messages, which do not belong to the text.
    private static let mark = "//! "

    /// - Parameters:
    ///   - name: of what is edited.
    ///   - kind: what it is, such as `macro`, by which a person finds a text that was kept.
    init(_ name: String, _ kind: String) throws {
        let safe = name.unicodeScalars.allSatisfy { $0 != "/" && $0 != "\0" } && name.utf8.count < 200 ? name : kind
        do throws(SystemCallError) {
            let folder = try Folders.makeTemporary("\(OwnProcess.environment["TMPDIR"] ?? "/tmp")/\(kind)")
            path = "\(folder)/\(safe).js"
        } catch {
            throw ExitError(local: "a folder for the text", error)
        }
    }

    /// Lets the user edit a text, and returns the result.
    func edit(_ text: String, under message: [String]) throws -> String {
        let shown = message.map { "\(Self.mark)\($0)\n" }.joined() + text
        do throws(SystemCallError) {
            try FileText.replace(path, with: shown)
        } catch {
            throw ExitError(local: path, error)
        }
        if let problem = try runEditor() { throw ended(problem, with: shown) }
        switch FileText.read(path, maximumBytes: 16 << 20) {
        case .failure(let problem): throw ExitError(message: "\(path) \(problem.message)", status: 1)
        case .success(let text): return Self.withoutMessage(text)
        }
    }

    private static func withoutMessage(_ text: String) -> String {
        var rest = text[...]
        while rest.hasPrefix(mark), let end = rest.firstIndex(of: "\n") { rest = rest[rest.index(after: end)...] }
        return String(rest)
    }

    /// Like git(1): the editor may be a command with flags. Returns what went wrong.
    private func runEditor() throws -> String? {
        let environment = OwnProcess.environment
        let editor = ["VISUAL", "EDITOR"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? "vi"
        let words = ["/bin/sh", "-c", "\(editor) \"$1\"", "sh", path]
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, words[0], nil, nil, &arguments, environ)
        guard code == 0 else { throw ExitError(local: words[0], SystemCallError("posix_spawn", code)) }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status == 0 ? nil : "the editor «\(editor)» failed"
    }

    /// The end after a failed editor. If nothing was changed, nothing is lost.
    private func ended(_ problem: String, with shown: String) -> ExitError {
        guard case .success(shown) = FileText.read(path, maximumBytes: 16 << 20) else { return kept(problem) }
        remove()
        return ExitError(message: "\(problem): nothing was changed", status: 1)
    }

    /// An end that keeps the file with the text.
    func kept(_ reason: String) -> ExitError {
        ExitError(message: "\(reason)\nYour text is kept in \(path).", status: 1)
    }

    func remove() {
        unlink(path)
        if let folder = Folders.parent(of: path) { rmdir(folder) }
    }
}
