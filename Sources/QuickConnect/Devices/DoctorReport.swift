public import JSON

/// What a check of one part of the device found.
public struct Finding: Sendable, Equatable {
    /// The state of what was checked.
    public enum State: String, Sendable, CaseIterable {
        /// It works.
        case ok
        /// It works, or the device does not have it; the owner may want to know.
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
    /// What was tried to find it out, and what came of it.
    public var tried: [String]
    /// The one shell command that fixes it; nil where no command can.
    public var fix: String?
    /// The shell command that shows more, where no command can fix it.
    public var inspect: String?

    /// What was found of a subject, what was tried, and the command that fixes it or shows more.
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

    /// A device that failed when it was tried. Commands of the error itself (members `fix` and `inspect`) come before
    /// those given here.
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
}

extension String {
    /// The text as one word of a shell command.
    public var shellWord: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: "/._-+:@".utf8.contains(byte)
                }
            }
        return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
    }
}

/// A part of the device that can be looked at.
public protocol Examined: Sendable {
    /// Looks at it now, without changing anything; takes seconds at most. Callers: the command `doctor`, and the
    /// daemon where it only looks.
    /// - Parameter isThorough: whether something may be heard meanwhile, such as a tone.
    func examine(thoroughly isThorough: Bool) async -> [Finding]
}

/// All findings of one check.
public struct DoctorReport: Sendable, Equatable {
    /// What was found, in the order that it is shown in.
    public var findings: [Finding]

    /// A report of what was found.
    public init(_ findings: [Finding]) { self.findings = findings }

    /// Looks at all parts at once.
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
    /// `warning` or `error`. `fix` is null where no command fixes it, `inspect` where no command shows more.
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

    /// Reads what ``json`` writes; nil where it is something else.
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

    /// The report for people: a table, and under each error what was tried, what fixes it or what shows more.
    /// - Parameter width: letters in a line; what is longer goes on in the next one. A command stays in one line.
    public func text(width: Int) -> String {
        let first = (findings.map(\.subject.count).max() ?? 0) + 2
        let indent = String(repeating: " ", count: first + 9)
        func lines(_ head: String, _ text: String) -> [String] {
            let wrapped = text.wrapped(to: max(width - head.count, 20))
            let next = String(repeating: " ", count: head.count)
            return [head + (wrapped.first ?? "")] + wrapped.dropFirst().map { next + $0 }
        }
        let all = findings.flatMap { finding -> [String] in
            let name = finding.subject + String(repeating: " ", count: first - finding.subject.count)
            var all = lines("\(name)\(finding.state.label)", finding.says)
            if finding.state == .error { all += finding.tried.flatMap { lines("\(indent)tried  ", $0) } }
            if let fix = finding.fix { all.append("\(indent)fix    \(fix)") }
            if let inspect = finding.inspect { all.append("\(indent)see    \(inspect)") }
            return all
        }
        return (all + ["", isOK ? "No problems found." : "Problems found."]).joined(separator: "\n")
    }
}

extension String {
    /// The text in lines of at most so many letters, broken between words. A longer word has a line of its own.
    public func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        return lines + (line.isEmpty ? [] : [line])
    }
}

extension Finding.State {
    fileprivate var label: String {
        switch self {
        case .ok: "ok       "
        case .warning: "warning  "
        case .error: "error    "
        }
    }
}
