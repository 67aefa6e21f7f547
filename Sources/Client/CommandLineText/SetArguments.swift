internal import ArgumentParser
internal import Glibc
package import JSON
internal import Linux

/// The arguments of `quickconnect set`, as a command line has them.
package enum SetArguments {
    /// What a value becomes.
    /// - Parameters:
    ///   - texts: what was typed behind its name.
    ///   - type: the type that is declared; nil if nobody could tell.
    ///   - call: the words before it in a line that calls instead.
    package static func value(of texts: [String], as type: String?, call: [String]) throws -> JSONValue {
        let (tool, name) = (call.dropLast(2).map(\.shellWord).joined(separator: " "), call.last?.shellWord ?? "")
        if type == "string" {
            if texts.count > 1, texts[0] == "=" {
                let line = ([tool, "set", name] + texts.dropFirst().map(\.shellWord)).joined(separator: " ")
                write("quickconnect: the text begins with «=»; without it: «\(line)»\n", to: STDERR_FILENO)
            }
            return .string(texts.joined(separator: " "))
        }
        // What follows is no option, as in other programs; it may be a negative number anyway.
        let texts = texts.first == "--" ? Array(texts.dropFirst()) : texts
        if texts.count == 2, (try? JSONParser.parse(texts[1]))?.objectValue != nil {
            let line = (call + texts).map(\.shellWord).joined(separator: " ")
            throw ValidationError("A value with options is a call: «\(line)».")
        }
        if texts.count == 2, texts[0] == "=" {
            throw ValidationError("NAME and VALUE are two words: «\(tool) set \(name) \(texts[1].shellWord)».")
        }
        if let at = texts.firstIndex(where: { ["--timeout", "--socket"].contains($0) }), at + 1 < texts.count {
            let value = [call.last ?? ""] + texts[..<at] + texts[(at + 2)...]
            let words = (texts[at...(at + 1)] + value).map(\.shellWord).joined(separator: " ")
            throw ValidationError("An option comes before NAME: «\(tool) set \(words)».")
        }
        guard texts.count == 1 else {
            throw ValidationError("One VALUE is expected; in a shell, JSON with spaces is in quotes.")
        }
        guard let value = try? JSONParser.parse(texts[0]) else {
            if type == "number" || type == "integer", let note = noNumber(texts[0], isWhole: type == "integer") {
                throw ValidationError(note)
            }
            return .string(texts[0])
        }
        guard value != .null else { throw ValidationError("No value can be set to null, which reads it.") }
        return value
    }

    /// Name and texts; throws what is wrong with them.
    package static func parts(_ words: [String]) throws -> (name: String, texts: [String]) {
        guard let name = words.first, !name.isEmpty else { throw ValidationError("NAME is missing.") }
        guard !name.hasPrefix("-") else { throw ValidationError("Unknown option '\(name)'.") }
        guard words.count > 1 else {
            guard let assigned = assignment(words) else {
                throw ValidationError("VALUE is missing. «quickconnect call \(name.shellWord)» prints the value.")
            }
            let line = "quickconnect set \(assigned.name.shellWord) \(assigned.text.shellWord)"
            throw ValidationError("NAME and VALUE are two words: «\(line)».")
        }
        return (name, Array(words.dropFirst()))
    }

    /// The parts of `lamp=5`, which is one word where two are expected; nil if it is something else.
    package static func assignment(_ words: [String]) -> (name: String, text: String)? {
        guard words.count == 1, let parts = words.first?.split(separator: "=", maxSplits: 1), parts.count == 2 else {
            return nil
        }
        let (name, text) = (parts[0].trimmed, parts[1].trimmed)
        return name.isEmpty || text.isEmpty || name.hasPrefix("-") ? nil : (name, text)
    }

    /// What to say of a name that is no value, with a line that does what was meant.
    /// - Parameters:
    ///   - words: the name, and what was typed behind it.
    ///   - explained: what `explain` says of it.
    ///   - tool: the words before a command.
    package static func noValue(
        _ words: [String],
        _ explained: JSONObject,
        tool: [String] = ["quickconnect"]
    ) -> String {
        let name = words.first ?? ""
        var (noun, line) = ("a command", ["call"] + words)
        if let event = explained["event"]?.objectValue {
            // Nobody can post what a device tells, or what no rule lets anybody post.
            let isPosted = event["bound"] == nil && explained["post"] ?? .null != .null && words.count > 1
            (noun, line) = ("an event", isPosted ? ["call", "post"] + words : ["explain", name])
        } else if explained["schedule"] ?? .null != .null {
            (noun, line) = ("a schedule", ["call", name, "run"])
        }
        return "'\(name)' is \(noun) and no value: «\((tool + line).map(\.shellWord).joined(separator: " "))»"
    }

    /// The error of a name that nobody knows, with the line that was meant if it stands behind its number.
    package static func ordered(_ error: any Error, _ words: [String], of verb: String) -> any Error {
        guard var end = error as? ExitError, end.code == "unknownCommand", words.count == 2,
            (try? JSONParser.parse(words[0]))?.numberValue != nil, (try? JSONParser.parse(words[1])) == nil
        else { return error }
        end.message += "\nNAME comes first: «quickconnect \(verb) \(words[1].shellWord) \(words[0])»"
        return end
    }

    /// What to say of a number with a decimal comma or a unit, or a too large one, which would be sent as a text; nil if it
    /// is none.
    /// - Parameter isWhole: whether only a whole number would do.
    package static func noNumber(_ text: String, isWhole: Bool = false) -> String? {
        func number(_ text: some StringProtocol) -> String? {
            (try? JSONParser.parse(String(text)))?.numberValue == nil ? nil : String(text)
        }
        guard number(text) == nil else { return nil }
        if let pointed = number(text.replacing(",", with: ".")) {
            return isWhole ? "'\(text)' is no whole number." : "'\(text)' is no number, but \(pointed) is."
        }
        let digits = text.prefix { $0.isNumber || $0 == "." || $0 == "-" }
        let rest = text.dropFirst(digits.count)
        if let value = Double(text), value.isInfinite, text.contains(where: \.isNumber) {
            return "'\(text)' is too large: a number is below 1.8e308."
        }
        // A unit has no digits, but for those above a line or below it.
        guard let plain = number(digits), !rest.isEmpty,
            !rest.contains(where: { $0.isASCII && $0.isNumber || $0 == "," })
        else { return nil }
        if isWhole, (try? JSONParser.parse(plain))?.integerValue == nil { return "'\(text)' is no whole number." }
        return "'\(text)' is no number, but \(plain) is: the unit is that of the declaration."
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
