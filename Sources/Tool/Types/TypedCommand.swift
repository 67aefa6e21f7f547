import CommandLineText
import JSON
import QuickConnect
import QuickConnectClient

/// A command, a value, an event or a schedule of the device, as programs see it.
struct TypedCommand {
    enum Kind {
        case command
        /// Its type.
        case value(Parameter)
        /// The type of its data.
        case event(Parameter)
        case schedule
    }

    let name: String
    let help: String?
    /// What it answers, in a sentence.
    let answers: String?
    let effect: String
    /// Nil: they are not checked.
    let parameters: [Parameter]?
    /// Nil: nobody says what it returns.
    let result: Parameter?
    let kind: Kind
    /// Of a value, an event or a schedule: whether the caller may set, post or run it.
    let isChangeable: Bool

    /// The parameters of a handler, which nobody declares.
    static var unchecked: Parameter {
        var parameter = Parameter("parameters", .any)
        (parameter.isOptional, parameter.repeats) = (true, true)
        return parameter
    }

    /// Commands that the words `on`, `handle` and `post` of the clients make.
    private static let wordsOfClients: Set = [
        // A member of that name would be the kind of the object in JavaScript.
        "__proto__", "actFor", "cancel", "post", "registerHandler", "removeHandler", "subscribe", "unsubscribe",
    ]

    /// What the caller may call, by name.
    static func all(_ connection: ConnectionOptions) throws -> [TypedCommand] {
        let deadline = connection.deadline
        let client = try connection.connect(before: deadline)
        func ask(_ command: String, _ parameters: JSONValue...) throws -> JSONObject? {
            let message = parameters.isEmpty ? nil : JSONValue.array(parameters).text
            switch try client.result(of: command, message: message, before: deadline) {
            case .success(let answer): return answer.objectValue
            // A socket with a list of commands may lack it; a handler may have gone meanwhile.
            case .failure(let error) where ["denied", "unknownCommand"].contains(error.code) && !parameters.isEmpty:
                return nil
            case .failure(let error): throw ExitError(error)
            }
        }
        var commands: [TypedCommand] = []
        for (name, entry) in try ask("commands") ?? [:] where !wordsOfClients.contains(name) {
            let rights = try ask("can", .string(name))
            guard let entry = entry.objectValue, rights?["allowed"] != false else { continue }
            commands.append(TypedCommand(name, entry, try ask("explain", .string(name)), rights?["verbs"]?.objectValue))
        }
        return commands
    }

    /// - Parameters:
    ///   - entry: what `commands` says of it.
    ///   - explanation: what `explain` says of it; nil if the caller may not ask.
    ///   - verbs: which verbs with rules the caller may use.
    private init(_ name: String, _ entry: JSONObject, _ explanation: JSONObject?, _ verbs: JSONObject?) {
        self.name = name
        help = entry["help"]?.stringValue
        answers = explanation?["answers"]?.stringValue
        effect = entry["effect"]?.stringValue ?? CommandEffect.destroys.rawValue
        result = entry["result"]?.objectValue.map { Parameter($0) }
        let (kind, verb) = Self.kind(entry)
        let isInput = entry["value"]?.objectValue?["input"] == true
        (self.kind, isChangeable) = (kind, !isInput && verb.map { verbs?[$0] != false } ?? true)
        var parameters = entry["parameters"]?.arrayValue?.compactMap(\.objectValue).map { Parameter($0) }
        if let choices = parameters?.first?.oneOf, let verbs {
            parameters?[0].oneOf = choices.filter { verbs[$0.stringValue ?? $0.text] != false }
        }
        self.parameters = parameters
    }

    /// With what `can` calls changing it.
    private static func kind(_ entry: JSONObject) -> (Kind, verb: String?) {
        if let value = entry["value"]?.objectValue { return (.value(Parameter(value)), VerbRules.setting) }
        if let event = entry["event"]?.objectValue { return (.event(Parameter(event)), VerbRules.posting) }
        return entry["schedule"]?.objectValue == nil ? (.command, nil) : (.schedule, PlannedCall.run)
    }

    var isCommand: Bool { if case .command = kind { true } else { false } }

    /// What it does, what its parameters are, and what it answers: a paragraph each.
    var paragraphs: [String] {
        var paragraphs = [help ?? "The handler of a client."]
        for parameter in parameters ?? [] where isCommand {
            let described = parameter.members.filter { $0.declared == nil && !$0.help.isEmpty }
            let words = [parameter.help] + described.map { "\($0.name): \($0.help)" }
            let text = words.compactMap { $0 }.joined(separator: "; ")
            if !text.isEmpty { paragraphs.append("\(parameter.name): \(text)") }
        }
        if let answers { paragraphs.append("Answers \(answers)") }
        if case .event = kind {} else { paragraphs.append("Effect: \(effect)") }
        return paragraphs.map(\.onOneLine)
    }
}

extension Parameter {
    /// A declaration as `commands` shows it.
    init(_ json: JSONObject, named name: String? = nil) {
        self.init(name ?? json["name"]?.stringValue ?? "", json["type"]?.stringValue.flatMap(Kind.init) ?? .any)
        isOptional = json["optional"] == true
        oneOf = json["oneOf"]?.arrayValue
        repeats = json["repeat"] == true
        help = json["help"]?.stringValue
        members = (json["members"]?.objectValue ?? [:]).map { name, member in
            guard let declared = member.objectValue else { return Member(name, help: member.stringValue ?? "") }
            return Member(Parameter(declared, named: name))
        }
        items = json["items"]?.objectValue.map { Parameter($0) }
    }

    /// Whether it can only be null.
    var isNull: Bool { oneOf == [JSONValue.null] }

    /// The strings that it may be; nil unless there are some, and only strings.
    var names: [String]? {
        let names = oneOf?.compactMap(\.stringValue) ?? []
        return names.isEmpty || names.count < oneOf?.count ?? 0 ? nil : names
    }
}

/// Names and texts in sources.
extension String {
    /// Whether it can be a name in each of the languages, apart from their own words.
    var isIdentifier: Bool {
        guard let first = utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        return utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    /// With a capital, as types begin.
    var capitalizedName: String { prefix(1).uppercased() + dropFirst() }

    /// Without line breaks and control characters, which could end a comment.
    var onOneLine: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: " "
                    default: scalar
                    }
                }
            )
        )
    }
}

extension [Parameter] {
    /// Names for the parameters of a function: those that are identifiers and none of `words` stay.
    func argumentNames(avoiding words: Set<String>) -> [String] {
        enumerated().map { index, parameter in
            guard parameter.name.isIdentifier else { return "parameter\(index)" }
            return words.contains(parameter.name) ? "\(parameter.name)_" : parameter.name
        }
    }
}

extension Set<String> {
    /// Takes a name, or where it is taken the next one with lines behind it.
    mutating func unique(_ name: String) -> String {
        var name = name
        while !insert(name).inserted { name += "_" }
        return name
    }
}
