import CommandLineText
import Glibc
import JSON
import Linux

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
        let folder = try LocalFile.change("a folder for the text") { () throws(SystemCallError) in
            try Folders.makeTemporary("\(OwnProcess.environment["TMPDIR"] ?? "/tmp")/\(kind)")
        }
        path = "\(folder)/\(safe).js"
    }

    /// What became of an edited text: what is said of it, or what is wrong with it, for the next try.
    enum Outcome {
        case saved(String)
        case mistaken([String])
    }

    /// Lets the user edit a text until it is saved, or the user gives up.
    func edit(_ text: String, isNew: (String) -> Bool, save: (String) throws -> Outcome) throws {
        var (text, message) = (text, [String]())
        while true {
            let edited = try edit(text, under: message)
            guard isNew(edited) else {
                remove()
                return say("Nothing was changed.")
            }
            // A user who closes the editor without fixing anything wants to stop.
            if !message.isEmpty, edited == text { throw kept(message.joined(separator: "\n")) }
            switch try save(edited) {
            case .saved(let words):
                remove()
                return say(words)
            case .mistaken(let lines): (text, message) = (edited, lines)
            }
        }
    }

    /// A mistake in the text, as lines above it.
    static func lines(_ message: String, _ mistake: JSONObject) -> [String] {
        let line = mistake["line"]?.integerValue.map { "line \($0) below these: " } ?? ""
        return ["\(line)\(message)"] + MacroPlace.marked(mistake)
    }

    /// Lets the user edit a text, and returns the result.
    private func edit(_ text: String, under message: [String]) throws -> String {
        let shown = message.map { "\(Self.mark)\($0)\n" }.joined() + text
        try LocalFile.change(path) { () throws(SystemCallError) in try FileText.replace(path, with: shown) }
        if let problem = try runEditor() { throw ended(problem, with: shown) }
        return Self.withoutMessage(try LocalFile.text(path, maximumBytes: 16 << 20))
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
        let end = try LocalFile.change(words[0]) { () throws(SystemCallError) in
            Program.wait(for: try Program.start(words))
        }
        return end == .status(0) ? nil : "the editor «\(editor)» failed"
    }

    /// The end after a failed editor. If nothing was changed, nothing is lost.
    private func ended(_ problem: String, with shown: String) -> ExitError {
        guard case .success(shown) = FileText.read(path, maximumBytes: 16 << 20) else { return kept(problem) }
        remove()
        return ExitError(message: "\(problem): nothing was changed")
    }

    /// An end that keeps the file with the text.
    func kept(_ reason: String) -> ExitError {
        ExitError(message: "\(reason)\nYour text is kept in \(path).")
    }

    func remove() {
        unlink(path)
        if let folder = Folders.parent(of: path) { rmdir(folder) }
    }
}
