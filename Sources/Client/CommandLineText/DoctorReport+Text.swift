package import QuickConnect

extension DoctorReport {
    /// The report for people: a table, and under each error what was tried, what fixes it or what shows more.
    /// - Parameter width: characters in a line; longer text is wrapped, but a command stays on one line.
    package func text(width: Int) -> String {
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

extension Finding.State {
    fileprivate var label: String {
        switch self {
        case .ok: "ok       "
        case .warning: "warning  "
        case .error: "error    "
        }
    }
}
