import JSON
import Synchronization

/// Who may do what, apart from the lists of sockets.
public struct Permissions: Sendable {
    private let ownUID: UInt32
    private let handlers: HandlerRule
    private var handlerCommands: AllowRule? { handlers.rule.withLock { $0 } }

    /// - Parameters:
    ///   - ownUID: the uid of the daemon's user, who may do everything.
    ///   - handlerCommands: who may register any handler, which becomes a command of its own if no mapping has its
    ///     name, but for those of entries whose `answeredBy` has `only`. Privileged callers always may.
    public init(ownUID: UInt32, handlerCommands: AllowRule? = nil) {
        self.ownUID = ownUID
        handlers = HandlerRule(handlerCommands)
    }

    /// Says who may register any handler from now on. ``Router/replaceTable(_:)`` then checks the handlers again.
    public func replaceHandlerCommands(_ new: AllowRule?) { handlers.rule.withLock { $0 = new } }

    /// Whether no rule applies to a caller: root, the daemon's own user, the daemon itself.
    public func isPrivileged(_ caller: Caller) -> Bool { caller.isPrivileged(ownUID: ownUID) }

    /// Whether the caller may end or stop what another caller started: root, the daemon's user, the same user.
    public func mayEnd(_ caller: Caller) -> @Sendable (_ other: Caller) -> Bool {
        let isPrivileged = isPrivileged(caller)
        return { other in isPrivileged || caller.isSameUser(as: other) }
    }

    /// Whether one caller may see what another one sent, and who that is: root, the daemon's user, the same user.
    public func maySee(callsOf other: Caller, _ caller: Caller) -> Bool { mayEnd(caller)(other) }

    /// Whether the caller's handlers may be commands of their own, and may answer for every mapping but those
    /// whose `answeredBy` has `only`.
    func mayHandleCommands(_ caller: Caller) -> Bool {
        isPrivileged(caller) || (handlerCommands?.names(caller) ?? false)
    }

    /// Why a caller may not answer for a handler; nil if it may.
    func refusal(toAnswerFor handler: String, in table: MappingTable, _ caller: Caller) -> CommandError? {
        isPrivileged(caller)
            ? nil : table.refusal(toAnswerFor: handler, caller, mayHandleCommands: mayHandleCommands(caller))
    }

    /// What the holder of a name is told that another client has taken.
    func loss(of handler: String) -> CommandError {
        denied("another client has registered the handler '\(handler)', which only those may make a command whom")
    }

    /// What the client of a handler is told that is no command of its own any more.
    func end(ofCommand handler: String) -> CommandError {
        denied("the handler '\(handler)' is no command any more, because only those may make one whom")
    }

    private func denied(_ what: String) -> CommandError {
        let named = handlerCommands
        let rule = named?.words ?? "root only"
        let place = named?.location.description
        let details = JSONObject(present: ["rule": .string(rule), "location": place.map(JSONValue.string)])
        let words = place.map { " (\($0))" } ?? ""
        return CommandError(.denied, "\(what) handlerCommands names: \(rule)\(words)", details: details)
    }

    /// Why a caller may not run a command; nil if it may.
    func refusal(by entry: MappingEntry, _ caller: @autoclosure () -> Caller) -> CommandError? {
        // Most commands have no rule, so the caller need not be looked up.
        guard let rule = entry.rule else { return nil }
        let caller = caller()
        if isPrivileged(caller) || rule.names(caller) { return nil }
        if case .peer(let uid, _, _) = caller.origin, entry.publishers.contains(uid) { return nil }
        return .denied(
            entry.command.shortened,
            rule,
            AllowRule.line(entry.command, "allow", adding: caller, to: rule),
            caller
        )
    }

    /// What the rules of `verbs` and of `set` say about a call that its entry allows.
    func verdict(on call: borrowing Call, by entry: MappingEntry) -> VerbVerdict {
        if let rule = entry.setRule, (0..<call.argumentCount).contains(where: { !call.argument($0).isNull }) {
            return refusalToSet(entry, rule, call.caller).map(VerbVerdict.refused) ?? .granted
        }
        guard !entry.verbs.isEmpty, let (verb, rule) = entry.verbs.rule(for: call) else { return .noRule }
        return refusal(of: verb, rule, entry, call.caller).map(VerbVerdict.refused) ?? .granted
    }

    func refusalToSet(_ entry: MappingEntry, _ rule: AllowRule, _ caller: Caller) -> CommandError? {
        if isPrivileged(caller) || rule.names(caller) { return nil }
        let line = AllowRule.line(entry.command, "set", adding: caller, to: rule)
        let act = entry.kind == .schedule ? "running" : "setting"
        return .denied("\(act) \(entry.command.shortened)", rule, line, caller)
    }

    /// Why a caller may not post a declared event; nil if it may. Nobody may post what has no rule for it, and what is no
    /// event.
    public func refusal(toPost entry: MappingEntry, _ caller: Caller) -> CommandError? {
        let name = entry.command.shortened
        let input = entry.value.flatMap { $0.isInput ? $0.binding?.part : nil }
        if let source = input ?? entry.event?.binding.map({ "the input device \($0.device)" }) {
            return CommandError(.denied, "nobody may post \(name): it comes from \(source)")
        }
        guard entry.event != nil else {
            let when = entry.kind == .value ? "it is set («quickconnect set \(name) VALUE»)" : "it runs"
            let what =
                "'\(name)' is \(entry.kind.noun), whose event is sent when \(when); choose another name for yours"
            return CommandError(.denied, what)
        }
        let rule = entry.postRule
        if let rule, isPrivileged(caller) || rule.names(caller) { return nil }
        let line = AllowRule.line(entry.command, "post", adding: caller, to: rule)
        if let rule { return .denied("posting \(name)", rule, line, caller) }
        let place = entry.location.map { " (\($0))" } ?? ""
        let sentence = "nobody may post \(name)\(place), which the device tells; \(AllowRule.remedy(line, caller))"
        return CommandError(.denied, sentence, details: JSONObject(present: ["allow": line.map(JSONValue.string)]))
    }

    /// Why a caller may not call a command with a verb that has a rule; nil if it may.
    func refusal(of verb: String, _ rule: AllowRule, _ entry: MappingEntry, _ caller: Caller) -> CommandError? {
        if isPrivileged(caller) || rule.names(caller) { return nil }
        let line = AllowRule.line(entry.command, "verbs", verb, adding: caller, to: rule)
        return .denied("\(entry.command.shortened) \(verb.shortened)", rule, line, caller)
    }
}

/// Shared by all copies.
private final class HandlerRule: Sendable {
    let rule: Mutex<AllowRule?>

    init(_ rule: AllowRule?) { self.rule = Mutex(rule) }
}

/// What the rules of `verbs` say about a call.
enum VerbVerdict {
    case noRule
    /// A rule names the caller, who may then also do what the command itself would refuse.
    case granted
    case refused(CommandError)
}

extension CommandError {
    /// `denied`, with the rule, where it is written, and the YAML line that would also allow this caller.
    fileprivate static func denied(_ what: String, _ rule: AllowRule, _ line: String?, _ caller: Caller) -> CommandError
    {
        let remedy = rule.slip(of: caller) + AllowRule.remedy(line, caller)
        let sentence = "\(what) is allowed to \(rule.words) (\(rule.location)); \(remedy)"
        var details: JSONObject = ["rule": .string(rule.words), "location": .string(rule.location.description)]
        details["allow"] = line.map(JSONValue.string)
        return CommandError(.denied, sentence, details: details)
    }
}

extension Permissions {
    /// The file rights of a call's caller.
    public func fileRights(of call: borrowing Call) -> FileRights {
        FileRights(call.caller, isPrivileged: isPrivileged(call.caller), isGranted: call.isGrantedByVerb)
    }
}
