import Actions
import ArgumentParser
import JSON
import Linux

/// Shell completion with data of the daemon. It offers nothing if the daemon does not answer at once: completion must
/// not be slow.
enum Completion {
    /// The words of a call: the command, and then what its parameters may be.
    static let call = CompletionKind.custom { words, index, _ in
        let typed = words.prefix(max(0, min(index, words.count)))
        guard let start = typed.lastIndex(of: "call") else { return commands() }
        let before = arguments(typed.dropFirst(start + 1))
        return before.isEmpty
            ? commands() : parameters(of: before[0], after: Array(before.dropFirst()))
    }

    static let command = CompletionKind.custom { _, _, _ in commands() }
    static let macro = CompletionKind.custom { _, _, _ in macros() }
    static let procedure = CompletionKind.custom { _, _, _ in procedures() }
    static let event = CompletionKind.custom { _, _, _ in events() }
    static let action = CompletionKind.custom { _, _, _ in ActionLibrary.ofUser.folders.files().files.map(\.name) }
    static let mediaFile = CompletionKind.custom { _, _, _ in names(in: ask("media", "list"), "name") }

    /// Without the options that stand before the command, and their values.
    private static func arguments(_ words: ArraySlice<String>) -> [String] {
        var words = words
        while let word = words.first, word.hasPrefix("-") {
            words = words.dropFirst(["--socket", "--timeout"].contains(word) ? 2 : 1)
        }
        return Array(words)
    }

    private static func parameters(of command: String, after words: [String]) -> [String] {
        switch (command, words.count) {
        case ("play", 0), ("rec", 0), ("media", 1): names(in: ask("media", "list"), "name")
        case ("playSound", 0): names(in: ask("sounds"), "number")
        case ("explain", 0), ("can", 0): commands()
        case ("subscribe", _), ("unsubscribe", _), ("post", 0): events()
        case ("removeHandler", 0): names(in: ask("state")?.objectValue?["handlers"], "name")
        case ("execute", 0): procedures()
        case ("macro", 1): macros()
        default: choices(of: command, at: words.count)
        }
    }

    /// What a parameter may be, where its declaration lists it.
    private static func choices(of command: String, at position: Int) -> [String] {
        let parameters = ask("commands")?.objectValue?[command]?.objectValue?["parameters"]?.arrayValue ?? []
        guard position < parameters.count else { return [] }
        return (parameters[position].objectValue?["oneOf"]?.arrayValue ?? []).map { $0.stringValue ?? $0.text }
    }

    private static func commands() -> [String] { ask("commands")?.objectValue?.names ?? [] }
    private static func macros() -> [String] { names(in: ask("macro", "list")?.objectValue?["macros"], "name") }
    private static func procedures() -> [String] {
        names(in: ask("procedures", "list")?.objectValue?["procedures"], "name")
    }
    private static func events() -> [String] { names(in: ask("state")?.objectValue?["events"], "event") }

    /// One member of each object of a list.
    private static func names(in list: JSONValue?, _ member: String) -> [String] {
        (list?.arrayValue ?? []).compactMap { $0.objectValue?[member] }.map { $0.stringValue ?? $0.text }
            .filter { name in !name.contains { $0.isNewline } }
    }

    private static func ask(_ command: String, _ parameters: JSONValue...) -> JSONValue? {
        var options = ConnectionOptions()
        options.socket = nil
        options.timeout = 0.5
        return try? options.call(command, parameters)
    }
}
