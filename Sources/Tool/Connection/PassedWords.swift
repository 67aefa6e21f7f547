import ArgumentParser
import JSON
import QuickConnect

extension ParsableCommand {
    /// The first of words that are passed on as they are, which is no option.
    /// - Parameter what: its name in the usage.
    func first(of words: [String], _ what: String) throws -> String {
        guard let first = words.first, !first.isEmpty else { throw ValidationError("\(what) is missing.") }
        if ["--help", "-h"].contains(first) { throw CleanExit.helpRequest(self) }
        if first.hasPrefix("-") { throw Self.unknownOption(first) }
        return first
    }

    static func unknownOption(_ word: String) -> ValidationError {
        let known = usageString().split { !$0.isLetter && $0 != "-" }.map(String.init).filter { $0.hasPrefix("--") }
        let name = String(word.prefix { $0 != "=" })
        let question = NearestNames.question(name, among: known + ["--help"])
        return ValidationError("Unknown option '\(name)'\(question.isEmpty ? "." : question)")
    }

    /// A name, and arguments.
    func nameAndArguments(_ words: [String]) throws -> [JSONValue] {
        [.string(try first(of: words, "NAME"))] + words.dropFirst().map { (try? JSONParser.parse($0)) ?? .string($0) }
    }
}
