import ArgumentParser
import Glibc
import JSON
import Linux
import QuickConnect
import QuickConnectClient

struct MacroEditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Edits a macro in $EDITOR; when the editor is closed, the next run runs the new text.",
        discussion: """
            A mistake brings the editor back, with the message on top. A macro that somebody else has saved meanwhile is \
            not overwritten: the text is kept in a file, whose name is told. A name that is none yet makes a new macro.
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The macro.", completion: .custom { _, _, _ in MacroNames.forCompletion() })
    var name: String

    /// What a new macro begins as.
    private static let template = "function() {\n}\n"

    func run() throws {
        let (old, base) = try text()
        let file = try EditedFile(name)
        var (text, message) = (old, [String]())
        while true {
            let edited = try file.edit(text, under: message)
            guard edited != old || base == 0 && edited != Self.template else {
                file.remove()
                return say("Nothing was changed.")
            }
            // Who closes the editor without mending anything has had enough.
            if !message.isEmpty, edited == text { throw file.kept(message.joined(separator: "\n")) }
            switch try connection.macroResult(["save", .string(name), .string(edited), ["base": .integer(base)]]) {
            case .success(let answer):
                file.remove()
                return say("\(name) is version \(answer.objectValue?["version"]?.text ?? "?") now.")
            case .failure(let error) where error.code == "invalid" && error.members["field"] != "/1":
                (text, message) = (edited, Self.message(error))
            case .failure(let error): throw file.kept(End(macro: error).message)
            }
        }
    }

    /// The text and its version; of a new macro the template and 0.
    private func text() throws -> (String, Int64) {
        switch try connection.macroResult(["show", .string(name)]) {
        case .success(let answer):
            let macro = answer.objectValue ?? [:]
            if macro["from"] == "configuration" {
                let file = macro["file"]?.stringValue ?? ""
                throw End(
                    message: "\(name) is the owner's file \(file): edit it there, it takes effect at once",
                    status: 1
                )
            }
            return (macro["text"]?.stringValue ?? "", macro["version"]?.integerValue ?? 0)
        case .failure(let error) where error.code == "notFound": return (Self.template, 0)
        case .failure(let error): throw End(macro: error)
        }
    }

    private static func message(_ error: ErrorReply) -> [String] {
        let line = error.members["line"]?.integerValue.map { "line \($0) below these: " } ?? ""
        return ["\(line)\(error.message)"] + MacroPlace.marked(error.members)
    }
}

/// The file that the editor is given.
private struct EditedFile {
    let path: String

    /// What the lines of a message begin with, which are not the macro's.
    private static let mark = "//! "

    init(_ name: String) throws {
        let safe = name.unicodeScalars.allSatisfy { $0 != "/" && $0 != "\0" } && name.utf8.count < 200 ? name : "macro"
        var template = Array("\(OwnProcess.environment["TMPDIR"] ?? "/tmp")/macro-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw End(local: "a folder for the text", SystemCallError("mkdtemp")) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self) + "/\(safe).js"
    }

    /// Lets the user edit a text, and gives what it has become.
    func edit(_ text: String, under message: [String]) throws -> String {
        let shown = message.map { "\(Self.mark)\($0)\n" }.joined() + text
        do throws(SystemCallError) {
            try FileText.replace(path, with: shown)
        } catch {
            throw End(local: path, error)
        }
        if let problem = try runEditor() { throw ended(problem, with: shown) }
        switch FileText.read(path, maximumBytes: 16 << 20) {
        case .failure(let problem): throw End(message: "\(path) \(problem.message)", status: 1)
        case .success(let text): return Self.withoutMessage(text)
        }
    }

    private static func withoutMessage(_ text: String) -> String {
        var rest = text[...]
        while rest.hasPrefix(mark), let end = rest.firstIndex(of: "\n") { rest = rest[rest.index(after: end)...] }
        return String(rest)
    }

    /// As git(1) does it: the editor may be a command with flags. Says what went wrong.
    private func runEditor() throws -> String? {
        let environment = OwnProcess.environment
        let editor = ["VISUAL", "EDITOR"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? "vi"
        let words = ["/bin/sh", "-c", "\(editor) \"$1\"", "sh", path]
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, words[0], nil, nil, &arguments, environ)
        guard code == 0 else { throw End(local: words[0], SystemCallError("posix_spawn", code)) }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status == 0 ? nil : "the editor «\(editor)» failed"
    }

    /// The end of an editor that failed. Who has changed nothing loses nothing.
    private func ended(_ problem: String, with shown: String) -> End {
        guard case .success(shown) = FileText.read(path, maximumBytes: 16 << 20) else { return kept(problem) }
        remove()
        return End(message: "\(problem): nothing was changed", status: 1)
    }

    /// An end that leaves the text where it is.
    func kept(_ reason: String) -> End { End(message: "\(reason)\nYour text is kept in \(path).", status: 1) }

    func remove() {
        unlink(path)
        if let folder = Folders.parent(of: path) { rmdir(folder) }
    }
}
