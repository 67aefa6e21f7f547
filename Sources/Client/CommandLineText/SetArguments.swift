internal import ArgumentParser
package import JSON
internal import Linux

/// The arguments of `quickconnect set`, as a command line has them.
package enum SetArguments {
    /// What a value becomes.
    /// - Parameters:
    ///   - texts: what was typed behind its name.
    ///   - type: the type that is declared; nil if nobody could tell.
    package static func value(of texts: [String], as type: String?) throws -> JSONValue {
        if type == "string" { return .string(texts.joined(separator: " ")) }
        guard texts.count == 1 else {
            throw ValidationError("One VALUE is expected; in a shell, JSON with spaces is in quotes.")
        }
        guard let value = try? JSONParser.parse(texts[0]) else { return .string(texts[0]) }
        guard value != .null else { throw ValidationError("No value can be set to null, which reads it.") }
        return value
    }

    /// Name and texts; throws what is wrong with them.
    package static func parts(_ words: [String]) throws -> (name: String, texts: [String]) {
        guard let name = words.first, !name.isEmpty else { throw ValidationError("NAME is missing.") }
        guard !name.hasPrefix("-") else { throw ValidationError("Unknown option '\(name)'.") }
        guard words.count > 1 else {
            let parts = name.split(separator: "=", maxSplits: 1).map { String($0).shellWord }
            guard parts.count == 2 else {
                throw ValidationError("VALUE is missing. «quickconnect call \(name)» prints the value.")
            }
            throw ValidationError("NAME and VALUE are two words: «quickconnect set \(parts[0]) \(parts[1])».")
        }
        return (name, Array(words.dropFirst()))
    }
}
