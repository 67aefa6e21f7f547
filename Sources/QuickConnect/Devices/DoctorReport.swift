public import JSON

/// What a doctor found out about one part of the device.
public struct Finding: Sendable, Equatable {
    public enum State: String, Sendable, CaseIterable {
        /// It works.
        case well
        /// Worth knowing, and no fault.
        case note
        /// It does not work.
        case fault
    }

    /// The part, such as `speaker`.
    public var subject: String
    public var state: State
    /// A sentence for people.
    public var says: String
    /// What was tried to find it out, and what came of it.
    public var tried: [String]
    /// The one shell command that mends a fault, or, where none can, the one that shows more.
    public var mend: String?

    public init(_ subject: String, _ state: State, _ says: String, tried: [String] = [], mend: String? = nil) {
        self.subject = subject
        self.state = state
        self.says = says
        self.tried = tried
        self.mend = mend
    }

    /// A device that failed when it was tried. Where the error knows the command that mends it (member `mend`), that.
    public init(_ subject: String, _ error: CommandError, tried: [String] = [], mend: String? = nil) {
        self.init(subject, .fault, error.message, tried: tried, mend: error.details["mend"]?.stringValue ?? mend)
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

/// All findings of one visit.
public struct DoctorReport: Sendable, Equatable {
    public var findings: [Finding]

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

    /// Whether there is no fault.
    public var isWell: Bool { findings.allSatisfy { $0.state != .fault } }
}

extension DoctorReport {
    /// `{"well": true, "findings": [{"subject", "state": "well"|"note"|"fault", "says", "tried": [text], "mend"}]}`;
    /// `mend` is null where there is nothing to mend.
    public var json: JSONValue {
        let findings = findings.map { finding -> JSONValue in
            [
                "subject": .string(finding.subject), "state": .string(finding.state.rawValue),
                "says": .string(finding.says), "tried": .array(finding.tried.map(JSONValue.string)),
                "mend": finding.mend.map { .string($0) } ?? .null,
            ]
        }
        return ["well": .bool(isWell), "findings": .array(findings)]
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
            return Finding(subject, state, says, tried: tried, mend: member["mend"]?.stringValue)
        }
    }

    /// The report for people: a table, and under each fault what was tried and what mends it.
    public var text: String {
        let width = (findings.map(\.subject.count).max() ?? 0) + 2
        let lines = findings.flatMap { finding -> [String] in
            let name = finding.subject + String(repeating: " ", count: width - finding.subject.count)
            let indent = String(repeating: " ", count: width + 7)
            var lines = ["\(name)\(finding.state.label)\(finding.says)"]
            if finding.state == .fault { lines += finding.tried.map { "\(indent)tried  \($0)" } }
            if let mend = finding.mend { lines.append("\(indent)mend   \(mend)") }
            return lines
        }
        return (lines + ["", isWell ? "All is well." : "Not all is well."]).joined(separator: "\n")
    }
}

extension Finding.State {
    fileprivate var label: String {
        switch self {
        case .well: "well   "
        case .note: "note   "
        case .fault: "FAULT  "
        }
    }
}
