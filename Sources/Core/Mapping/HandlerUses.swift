import JSON

/// A command object that a client answers.
protocol AnsweredObject: CommandObject {
    /// The service of this project that alone answers; nil where others may.
    var service: String? { get set }
}

/// Which entries use which handlers (`script:NAME`), and whom they allow to answer.
struct HandlerUses: Sendable {
    private struct Use: Sendable {
        let command: String
        let answeredBy: AllowRule?
        /// Whether those of handlerCommands may not answer.
        let only: Bool
        let location: SourceLocation
    }

    private var uses: [ByteName: [Use]] = [:]
    /// The ids of the project's services. They are in a group so that they may connect, not so that they may answer for one
    /// another.
    private let services: Set<UInt32>

    init(services: Set<UInt32> = []) { self.services = services }

    /// The prefix of a command object's name that stands for a handler.
    static let prefix = "script:"

    /// The handler in `script:NAME`; nil if the name has another form.
    static func handler(_ name: String) -> String? {
        guard name.utf8.starts(with: prefix.utf8), name.utf8.count > prefix.utf8.count else { return nil }
        return String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    /// What a mistyped `script:NAME` was meant to be: `scipt:ring`, or one with a space beside its colon. Nil if it is none.
    static func meant(_ name: String) -> String? {
        let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let first = parts[1].firstIndex(where: { $0 != " " }) else { return nil }
        let word = parts[0].filter { $0 != " " } + ":"
        guard !NearestNames.find(word, among: [prefix]).isEmpty else { return nil }
        let meant = prefix + parts[1][first...]
        return meant == name ? nil : meant
    }

    /// Records that an entry uses a handler.
    mutating func add(_ handler: Located<String>, by command: String, _ answeredBy: AllowRule?, only: Bool) {
        uses[ByteName(handler.value), default: []].append(
            Use(command: command, answeredBy: answeredBy, only: only, location: handler.location)
        )
    }

    /// A note for each handler that an entry uses without `answeredBy`: an owner may not know the consequence.
    var notes: [ConfigurationMistake] {
        uses.flatMap { handler, uses in
            uses.filter { $0.answeredBy == nil }.map { use in
                let what =
                    use.command == handler.text
                    ? "the handler '\(handler)'"
                    : "'\(handler)' answers for '\(use.command)', so it is no command of its own, and"
                return ConfigurationMistake(
                    """
                    \(what) may be registered only by root, the daemon's user and the users of the setting handlerCommands \
                    (\(Caller.scriptUser) if it is absent); with answeredBy: {users: [NAME]} in the entry others may too
                    """,
                    at: use.location
                )
            }
        }
    }

    func contains(_ handler: String) -> Bool { uses[ByteName(handler)] != nil }

    /// A handler that an entry uses, whose name differs from this one only in capitals.
    func inOtherCapitals(_ name: String) -> String? {
        uses.keys.lazy.map(\.text).first { $0.utf8.count == name.utf8.count && $0.lowercased() == name.lowercased() }
    }

    /// `denied` if an entry that uses the handler does not let the caller answer.
    /// - Parameter mayHandleCommands: whether handlerCommands names the caller.
    func refusal(toAnswerFor handler: String, _ caller: Caller, mayHandleCommands: Bool) -> CommandError? {
        let refusing = uses[ByteName(handler)]?.first { use in
            !(mayHandleCommands && !use.only) && !names(use, caller)
        }
        guard let refusing else { return nil }
        let rule = refusing.answeredBy?.words ?? "root and the users of handlerCommands"
        let line = AllowRule.line(refusing.command, "answeredBy", adding: caller, to: refusing.answeredBy)
        var details: JSONObject = ["rule": .string(rule), "location": .string(refusing.location.description)]
        details["allow"] = line.map(JSONValue.string)
        let sentence = """
            '\(handler)' is a handler of the command \(refusing.command.shortened) (\(refusing.location)), \
            and may be registered by \(rule); \(AllowRule.remedy(line, caller))
            """
        return CommandError(.denied, sentence, details: details)
    }

    /// Whether `answeredBy` names the caller. With `only` a service of this project is named by its user alone, and
    /// everybody else by a group, too.
    private func names(_ use: Use, _ caller: Caller) -> Bool {
        guard let rule = use.answeredBy else { return false }
        guard use.only, let uid = caller.uid, services.contains(uid) else { return rule.names(caller) }
        return rule.users.contains(uid)
    }
}
