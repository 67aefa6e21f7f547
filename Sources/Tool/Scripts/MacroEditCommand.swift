import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux
import QuickConnect
import QuickConnectClient

struct MacroEditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Edits a macro in $EDITOR; the next run uses the new text.",
        discussion: """
            If the text has a syntax error, the editor opens again, with the message at the top. If another user has saved \
            the macro in the meantime, it is not overwritten, and your text is kept in a file. A new name creates a new macro.
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The macro.", completion: Completion.macro)
    var name: String

    /// What a new macro begins as.
    private static let template = "function() {\n}\n"

    func run() throws {
        let (old, base) = try text()
        let file = try EditedFile(name, "macro")
        var (text, message) = (old, [String]())
        while true {
            let edited = try file.edit(text, under: message)
            guard edited != old || base == 0 && edited != Self.template else {
                file.remove()
                return say("Nothing was changed.")
            }
            // A user who closes the editor without fixing anything wants to stop.
            if !message.isEmpty, edited == text { throw file.kept(message.joined(separator: "\n")) }
            switch try connection.macroResult(["save", .string(name), .string(edited), ["base": .integer(base)]]) {
            case .success(let answer):
                file.remove()
                return say("\(name) is version \(answer.objectValue?["version"]?.text ?? "?") now.")
            case .failure(let error) where error.code == "invalid" && error.members["field"] != "/1":
                (text, message) = (edited, Self.message(error))
            case .failure(let error): throw file.kept(ExitError(macro: error).message)
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
                throw ExitError(
                    message: "\(name) is the owner's file \(file): edit it there, it takes effect at once",
                    status: 1
                )
            }
            return (macro["text"]?.stringValue ?? "", macro["version"]?.integerValue ?? 0)
        case .failure(let error) where error.code == "notFound": return (Self.template, 0)
        case .failure(let error): throw ExitError(macro: error)
        }
    }

    private static func message(_ error: ErrorReply) -> [String] {
        let line = error.members["line"]?.integerValue.map { "line \($0) below these: " } ?? ""
        return ["\(line)\(error.message)"] + MacroPlace.marked(error.members)
    }
}
