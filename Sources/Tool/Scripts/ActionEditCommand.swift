import Actions
import ArgumentParser
import CommandLineText
import JSON
import Linux
import QuickConnect
import SyntaxChecking

struct ActionEditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Edits an action in $EDITOR; the next run uses the new text.",
        discussion: """
            It edits your own copy, which replaces a shipped action, or one of the device's owner, for you. If the text has a \
            syntax error, the editor opens again, with the message at the top. A new name creates a new action, which is off \
            until it is allowed.
            """
    )

    @Argument(help: "The action.", completion: Completion.action)
    var name: String

    /// What a new action begins as.
    private static let template = """
        var Action = function() {}

        Action.prototype = {
            run: function(parameters) {
                parameters.completionFunction({"URL": document.URL, "title": document.title })
            },

            finalize: function(parameters) {
                eval(parameters["customJavaScript"])
            }
        }

        var ExtensionPreprocessingJS = new Action

        """

    func run() throws {
        if let problem = ActionName.problem(of: name) { throw ValidationError("'\(name)': \(problem).") }
        let folders = ActionLibrary.ofUser.folders
        let old = try text(folders.file(name))
        let file = try EditedFile(name, "action")
        let start = old ?? Self.template
        try file.edit(start, isNew: { $0 != start }) { edited in
            if let mistake = try mistake(in: edited, file) { return .mistaken(mistake) }
            let path = try save(edited, in: folders.own, file)
            let words = old == nil ? "made. «quickconnect action enable \(name) SITE» lets it run." : "saved."
            return .saved("\(path) is \(words)")
        }
    }

    private func text(_ file: ActionFolders.File?) throws -> String? {
        switch file?.text() {
        case nil: return nil
        case .success(let text): return text
        case .failure(let problem): throw ExitError(message: "\(file?.path ?? name) \(problem.message)")
        }
    }

    /// The mistakes of a text, as lines for people.
    private func mistake(in text: String, _ file: EditedFile) throws -> [String]? {
        do throws(CommandError) {
            guard let mistake = try SyntaxChecker.installed.verdict(on: text).mistake() else { return nil }
            return EditedFile.lines(mistake["message"]?.stringValue ?? "it is not valid JavaScript", mistake)
        } catch {
            throw file.kept(error.message)
        }
    }

    private func save(_ text: String, in folder: String, _ file: EditedFile) throws -> String {
        let path = "\(folder)/\(name)/\(ActionFolders.fileName)"
        do throws(SystemCallError) {
            try Folders.make("\(folder)/\(name)")
            try FileText.replace(path, with: text, mode: 0o644)
            return path
        } catch {
            throw file.kept("\(path): \(error)")
        }
    }
}
