public import JSON

/// What a check of one part of the device found.
public struct Finding: Sendable, Equatable {
    /// The state of what was checked.
    public enum State: String, Sendable, CaseIterable {
        /// It works.
        case ok
        /// It works, or the device does not have it, but the owner may want to know.
        case warning
        /// It does not work.
        case error
    }

    /// The part, such as `speaker`.
    public var subject: String
    /// Its state.
    public var state: State
    /// A sentence for people.
    public var says: String
    /// The steps of the check and their results.
    public var tried: [String]
    /// The one shell command that fixes it; nil if no command can.
    public var fix: String?
    /// The shell command that shows more, if no command can fix it.
    public var inspect: String?

    /// The result for a subject, what was tried, and the command that fixes it or shows more.
    public init(
        _ subject: String,
        _ state: State,
        _ says: String,
        tried: [String] = [],
        fix: String? = nil,
        inspect: String? = nil
    ) {
        self.subject = subject
        self.state = state
        self.says = says
        self.tried = tried
        self.fix = fix
        self.inspect = inspect
    }

    /// A device that failed when it was tried. Commands in the error itself (members `fix` and `inspect`) take
    /// precedence over those given here.
    public init(
        _ subject: String,
        _ error: CommandError,
        tried: [String] = [],
        fix: String? = nil,
        inspect: String? = nil
    ) {
        let (ownFix, ownInspect) = (error.details["fix"]?.stringValue, error.details["inspect"]?.stringValue)
        let hasOwn = ownFix != nil || ownInspect != nil
        self.init(
            subject,
            .error,
            error.message,
            tried: tried,
            fix: hasOwn ? ownFix : fix,
            inspect: hasOwn ? ownInspect : inspect
        )
    }

    /// What one of several declared names lacks. A part that lacks all of them names itself.
    public init(_ subject: String, of name: String, _ error: CommandError) {
        self.init(subject, error)
        if name != subject { says = "'\(name)': \(says)" }
    }
}

/// A part of the device that can be checked.
public protocol Examined: Sendable {
    /// What `doctor` must be asked for to get this alone; nil: it cannot.
    var topic: String? { get }

    /// Checks it now, without changing anything, within seconds. Callers: the command `doctor`, and the daemon when it
    /// only checks.
    /// - Parameter isThorough: whether the check may be audible, such as a test tone.
    func examine(thoroughly isThorough: Bool) async -> [Finding]
}

extension Examined {
    /// None: it is examined with all others.
    public var topic: String? { nil }
}

/// All findings of one check.
public struct DoctorReport: Sendable, Equatable {
    /// The findings, in the order in which they are shown.
    public var findings: [Finding]

    /// A report of what was found.
    public init(_ findings: [Finding]) { self.findings = findings }

    /// Checks all parts concurrently.
    public init(of parts: [any Examined], thoroughly isThorough: Bool) async {
        findings = await withTaskGroup(of: (Int, [Finding]).self) { group in
            for (index, part) in parts.enumerated() {
                group.addTask { (index, await part.examine(thoroughly: isThorough)) }
            }
            var found: [(index: Int, findings: [Finding])] = []
            for await (index, findings) in group { found.append((index, findings)) }
            return found.sorted { $0.index < $1.index }.flatMap(\.findings)
        }
    }

    /// Whether there is no error.
    public var isOK: Bool { findings.allSatisfy { $0.state != .error } }
}

extension DoctorReport {
    /// `{"ok": true, "findings": [{"subject", "state", "says", "tried": [text], "fix", "inspect"}]}`. `state` is `ok`,
    /// `warning` or `error`. `fix` is null if no command fixes it, `inspect` if no command shows more.
    public var json: JSONValue {
        let findings = findings.map { finding -> JSONValue in
            [
                "subject": .string(finding.subject), "state": .string(finding.state.rawValue),
                "says": .string(finding.says), "tried": .array(finding.tried.map(JSONValue.string)),
                "fix": finding.fix.map { .string($0) } ?? .null,
                "inspect": finding.inspect.map { .string($0) } ?? .null,
            ]
        }
        return ["ok": .bool(isOK), "findings": .array(findings)]
    }

    /// Parses what ``json`` writes; nil if it is something else.
    public init?(_ json: JSONValue) {
        guard let list = json.objectValue?["findings"]?.arrayValue else { return nil }
        findings = list.compactMap(\.objectValue).compactMap { member in
            guard let subject = member["subject"]?.stringValue, let says = member["says"]?.stringValue else {
                return nil
            }
            guard let state = member["state"]?.stringValue.flatMap(Finding.State.init) else { return nil }
            let tried = member["tried"]?.arrayValue?.compactMap(\.stringValue) ?? []
            let (fix, inspect) = (member["fix"]?.stringValue, member["inspect"]?.stringValue)
            return Finding(subject, state, says, tried: tried, fix: fix, inspect: inspect)
        }
    }
}
