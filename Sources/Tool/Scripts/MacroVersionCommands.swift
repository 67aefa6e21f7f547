import ArgumentParser
import CommandLineText
import JSON
import Linux
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
        try file.edit(old, isNew: { $0 != old || base == 0 && $0 != Self.template }) { edited in
            let save: [JSONValue] = ["save", .string(name), .string(edited), ["base": .integer(base)]]
            switch try connection.result(of: "macro", save) {
            case .success(let answer):
                return .saved("\(name) is version \(answer.objectValue?["version"]?.text ?? "?") now.")
            case .failure(let error) where error.code == "invalid" && error.members["field"] != "/1":
                return .mistaken(EditedFile.lines(error.message, error.members))
            case .failure(let error): throw file.kept(ExitError(macro: error).message)
            }
        }
    }

    /// The text and its version; of a new macro the template and 0.
    private func text() throws -> (String, Int64) {
        switch try connection.result(of: "macro", ["show", .string(name)]) {
        case .success(let answer):
            let macro = answer.objectValue ?? [:]
            if macro["from"] == "configuration" {
                let file = macro["file"]?.stringValue ?? ""
                throw ExitError(message: "\(name) is the owner's file \(file): edit it there, it takes effect at once")
            }
            return (macro["text"]?.stringValue ?? "", macro["version"]?.integerValue ?? 0)
        case .failure(let error) where error.code == "notFound": return (Self.template, 0)
        case .failure(let error): throw ExitError(macro: error)
        }
    }
}

struct MacroHistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Lists the versions of a macro, the newest first, with time and user."
    )

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Show what each version changed.")
    var diff = false

    @Flag(help: "Print JSON, for programs.")
    var json = false

    @Argument(help: "The macro.", completion: Completion.macro)
    var name: String

    func run() throws {
        let answer = try connection.macro(["history", .string(name)])
        guard !json else { return say(answer.text) }
        let versions = (answer.arrayValue ?? []).compactMap(\.objectValue)
        for (index, version) in versions.enumerated() {
            say(Self.line(version))
            guard diff, index + 1 < versions.count else { continue }
            let texts = [versions[index + 1], version].map { $0["text"]?.stringValue ?? "" }
            for line in LineDifference(from: texts[0], to: texts[1]).lines { say("    \(line.escapingAllButTabs)") }
        }
    }

    private static func line(_ version: JSONObject) -> String {
        let number = version["version"]?.integerValue ?? 0
        let reverted = version["reverted"]?.integerValue.map { ", version \($0) again" } ?? ""
        let who = version["caller"]?.objectValue?.callerName ?? "the file"
        return "\(number)  \(version["time"]?.stringValue ?? "")  \(who)\(reverted)"
    }
}

/// What was changed between two texts, line by line, with some lines around it.
struct LineDifference {
    let lines: [String]

    private static let context = 3

    init(from old: String, to new: String) {
        let (old, new) = (Self.split(old), Self.split(new))
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var all: [(mark: String, line: Substring)] = []
        var (from, to) = (0, 0)
        while from < old.count || to < new.count {
            if removed.contains(from) {
                all.append(("-", old[from]))
                from += 1
            } else if inserted.contains(to) {
                all.append(("+", new[to]))
                to += 1
            } else {
                all.append((" ", new[to]))
                (from, to) = (from + 1, to + 1)
            }
        }
        lines = Self.shortened(all)
    }

    /// Text after the last line break is a line only if it is not empty.
    private static func split(_ text: String) -> [Substring] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.last == "" ? lines.dropLast() : lines
    }

    private static func shortened(_ all: [(mark: String, line: Substring)]) -> [String] {
        let changes = all.indices.filter { all[$0].mark != " " }
        let shown = Set(changes.flatMap { max(0, $0 - context)...min(all.count - 1, $0 + context) })
        return all.indices.flatMap { index -> [String] in
            guard shown.contains(index) else { return index > 0 && shown.contains(index - 1) ? ["…"] : [] }
            return ["\(all[index].mark) \(all[index].line)"]
        }
    }
}
