import ArgumentParser
import JSON

extension ParsableCommand {
    /// The first of words that are passed on as they are, which is no option.
    /// - Parameter what: its name in the usage.
    func first(of words: [String], _ what: String) throws -> String {
        guard let first = words.first, !first.isEmpty else { throw ValidationError("\(what) is missing.") }
        if ["--help", "-h"].contains(first) { throw CleanExit.helpRequest(self) }
        guard !first.hasPrefix("-") else { throw ValidationError("Unknown option '\(first)'.") }
        return first
    }

    /// A name, and arguments.
    func nameAndArguments(_ words: [String]) throws -> [JSONValue] {
        [.string(try first(of: words, "NAME"))] + words.dropFirst().map { (try? JSONParser.parse($0)) ?? .string($0) }
    }
}
