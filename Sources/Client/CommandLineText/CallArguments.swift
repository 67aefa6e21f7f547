package import JSON
internal import Linux
internal import QuickConnect

/// The arguments of a call, as a command line has them.
package enum CallArguments {
    /// The text of `msg` that arguments stand for.
    package static func message(_ arguments: [String]) -> String? {
        // No text behind `msg=` is no message.
        guard arguments.count > 1 else { return arguments.first == "" ? JSONValue.string("").text : arguments.first }
        return JSONValue.array(arguments.map { (try? JSONParser.parse($0)) ?? .string($0) }).text
    }

    /// The first parameter that arguments stand for, if it is a text.
    package static func firstText(_ arguments: [String]) -> String? {
        guard let message = message(arguments) else { return nil }
        guard let value = try? JSONParser.parse(message) else { return message }
        return (value.arrayValue?.first ?? value).stringValue
    }

    /// What to say of the first argument that is an option of the client, or begins like an object or array of JSON and is
    /// none: both are sent as text; nil if there is none.
    package static func note(_ arguments: [String], of command: String) -> String? {
        if let note = misplaced(["--socket", "--timeout", "--json", "--device"], arguments, of: command) {
            return note
        }
        for (index, argument) in arguments.enumerated() where argument.hasPrefix("{") || argument.hasPrefix("[") {
            guard (try? JSONParser.parse(argument)) == nil else { continue }
            var hint = argument.contains("'") ? ": names and texts of JSON are in double quotes" : ""
            // It also takes it apart at spaces.
            let rest = arguments[index...].joined(separator: " ")
            if !rest.contains(where: { "'\"".contains($0) }), "}]".contains(rest.suffix(1)) {
                hint = ": a shell takes double quotes away, so put '…' around JSON"
            }
            return "«\(argument.escapingControls)» is no JSON, so it is sent as text\(hint)"
        }
        return nil
    }

    /// What to say of the first argument that is one of these options; nil if there is none.
    /// - Parameter command: what they stand behind.
    package static func misplaced(_ options: Set<Substring>, _ arguments: [String], of command: String) -> String? {
        guard let option = arguments.map({ $0.prefix { $0 != "=" } }).first(where: options.contains) else { return nil }
        let command = command.escapingControls
        return "«\(option)» behind \(command) is an argument of \(command); an option comes before it"
    }

    /// What to say besides of an error: that a text was taken for JSON, and how it is written.
    package static func remedy(_ arguments: [String], of command: String, error: ExitError) -> String? {
        if error.code == "unknownCommand", let (name, text) = SetArguments.assignment([command] + arguments) {
            let line = "quickconnect call \(name.shellWord) \(text.shellWord)"
            return "a command and its arguments are words of their own: «\(line)»"
        }
        if error.code == "unknownCommand", command == "simulate" {
            return
                "only a daemon with simulated hardware has it: «quickconnectd --simulate», or simulate: true in its settings"
        }
        if error.code == "unknownCommand", let words = ofTool(command, arguments) {
            return "'\(command)' is no command of the device: «\(words.map(\.shellWord).joined(separator: " "))»"
        }
        if error.code == "badRequest", arguments.count == 1 { return SetArguments.noNumber(arguments[0]) }
        if error.code == "invalid", arguments.count == 2, arguments[0] == "=" {
            let line = "quickconnect call \(command.shellWord) \(arguments[1].shellWord)"
            return "a command and its arguments are words of their own: «\(line)»"
        }
        if error.code == "invalid" {
            for (index, argument) in arguments.enumerated() {
                let isWhole = expects([", an integer"], index, error)
                guard isWhole || expects([", a number"], index, error) else { continue }
                if let note = SetArguments.noNumber(argument, isWhole: isWhole) { return note }
            }
        }
        guard error.code == "invalid", expects([", a string"], 0, error), arguments.count == 1,
            let argument = arguments.first, let json = try? JSONParser.parse(argument), json.stringValue == nil
        else { return nil }
        let note = "«\(argument.escapingControls)» is JSON; as text it is \(JSONValue.string(argument).text.shellWord)"
        // What the daemon calls the parameter of a value.
        guard error.message.contains("expected value, ") else { return note }
        return note + ", or, for a value of the device: «quickconnect set \(command.shellWord) \(argument.shellWord)»"
    }

    /// What to say of times that were typed as parameters, for an output that takes a pattern; nil if they were not.
    package static func pattern(_ arguments: [String], of command: String, error: ExitError) -> String? {
        guard error.code == "invalid", error.message.contains("/1: expected options, an object; got the number") else {
            return nil
        }
        let times = arguments.flatMap { argument -> [JSONValue] in
            let value = try? JSONParser.parse(argument)
            return value?.arrayValue ?? value.map { [$0] } ?? []
        }
        guard times.allSatisfy({ $0.integerValue.map { 1...10_000 ~= $0 } ?? false }) else {
            return "a pattern of times is a list of its own, '[[200,100,200]]', each from 1 to 10000 ms"
        }
        let line = "quickconnect call \(command.shellWord) \(JSONValue.array([.array(times)]).text.shellWord)"
        return "a pattern of times is a list of its own: «\(line)»"
    }

    /// What to say of an array that was taken for the list of the parameters, where it fits the first of them; nil if it was
    /// not.
    /// - Parameter explain: what `explain` says of the command.
    package static func array(
        _ arguments: [String],
        of command: String,
        error: ExitError,
        explain: () -> JSONObject?
    ) -> String? {
        guard error.code == "invalid", arguments.count == 1, expects([", an array"], 0, error),
            let list = (try? JSONParser.parse(arguments[0]))?.arrayValue,
            let first = explain()?["parameters"]?.arrayValue?.first?.objectValue
        else { return nil }
        let type = first["items"]?.objectValue?["type"]?.stringValue.flatMap(Parameter.Kind.init) ?? .any
        guard list.allSatisfy(Parameter("item", type).fits) else { return nil }
        let line = "quickconnect call \(command.shellWord) \(JSONValue.array([.array(list)]).text.shellWord)"
        return "a single list is that of the parameters, so an array is a list in it: «\(line)»"
    }

    /// What sets or reads a value, where it was typed as a command of the device.
    private static func ofTool(_ command: String, _ arguments: [String]) -> [String]? {
        switch (command, arguments.count) {
        case ("get", 1): ["quickconnect", "call"] + arguments
        case ("set", 3) where arguments[2].hasPrefix("{"): ["quickconnect", "call"] + arguments
        case ("set", 2...): ["quickconnect", "set"] + arguments
        default: nil
        }
    }

    /// Whether an error says that a parameter itself, and nothing inside of it, must be one of these.
    private static func expects(_ nouns: [String], _ index: Int, _ error: ExitError) -> Bool {
        guard let start = error.message.firstRange(of: "/\(index): expected ") else { return false }
        let rest = error.message[start.upperBound...]
        let expected = rest[..<(rest.firstRange(of: "; got")?.lowerBound ?? rest.endIndex)]
        return nouns.contains { expected.contains($0) }
    }
}
