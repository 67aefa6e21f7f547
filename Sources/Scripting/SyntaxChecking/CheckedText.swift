package import JSON

/// A text to parse without running it.
package struct CheckedText: Sendable {
    package enum Kind: String, Sendable {
        /// A script: statements.
        case script
        /// A macro: one function and nothing else.
        case macro
    }

    package var kind: Kind
    package var text: String

    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    /// As the process that parses reads it: {"kind", "text"}.
    package init?(_ json: JSONValue) {
        guard let members = json.objectValue, let text = members["text"]?.stringValue,
            let kind = members["kind"]?.stringValue.flatMap(Kind.init)
        else { return nil }
        self.init(kind, text)
    }

    /// - Parameter number: what its verdict must name, so that nothing that was written before is taken for that.
    func line(_ number: Int64) -> String {
        let members: JSONObject = [
            "kind": .string(kind.rawValue), "number": .integer(number), "text": .string(text),
        ]
        return "\(JSONValue.object(members).text)\n"
    }
}

/// What checking a text found.
package enum CheckVerdict: Sendable, Equatable {
    /// It is valid. The function of a macro is its first bytes, without semicolons after it; that of a script is all of it.
    case valid(functionBytes: Int)
    /// The first mistake: {"message", "line"?, "column"?, "source"?}. Also of a text that takes too long to parse.
    case mistake(JSONObject)
    /// It could not be checked, in words. Nothing is known about the text.
    case unchecked(String)

    /// As the process that parses writes it: {"bytes"} or {"mistake"}, the text's {"number"}, and {"seconds"}, the processor
    /// time it took.
    package func json(of number: JSONValue, seconds: Double) -> JSONValue {
        var members: JSONObject = ["number": number, "seconds": .number(seconds)]
        switch self {
        case .valid(let bytes): members["bytes"] = .integer(Int64(bytes))
        case .mistake(let mistake): members["mistake"] = .object(mistake)
        case .unchecked(let reason): members["unchecked"] = .string(reason)
        }
        return .object(members)
    }

    /// Nil if it is no verdict on that text: whoever parses may have been taken over by another one.
    /// - Parameter bytes: of the text.
    init?(_ members: JSONObject, of number: Int64, bytes: Int) {
        guard members["number"]?.integerValue == number else { return nil }
        if let function = members["bytes"]?.integerValue {
            guard (0...Int64(bytes)).contains(function) else { return nil }
            self = .valid(functionBytes: Int(function))
        } else if let mistake = members["mistake"]?.objectValue {
            self = .mistake(mistake)
        } else if let reason = members["unchecked"]?.stringValue {
            self = .unchecked(reason)
        } else {
            return nil
        }
    }
}
