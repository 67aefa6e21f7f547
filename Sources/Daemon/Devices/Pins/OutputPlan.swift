package import JSON
package import QuickConnect

/// What an output is set to: a value that stays, one for a time, or a pattern.
package struct OutputPlan: Sendable, Equatable {
    /// What it does now.
    package var first: JSONValue
    /// What it does later, and after how long since the step before. The last one is its default.
    package var later: [Step] = []
    /// Whether all steps are told, or only the first and the last.
    package var isPattern = false

    /// One of the later steps.
    package struct Step: Sendable, Equatable {
        package var after: Duration
        package var value: JSONValue
    }

    private static let maxPattern = 99
    private static let maxStep = 10_000
    private static let maxTime = Duration.seconds(3600)

    /// The option `for`; nil if it is not there. Throws `invalid` for another option.
    /// - Parameter field: where the options stand, as a JSON pointer.
    static func time(of options: JSONObject?, at field: String) throws(CommandError) -> JSONValue? {
        for (option, _) in options ?? [:] where option != "for" && option != "add" {
            throw .invalid("\(field)/\(option)", expected: "for, a time such as 5s", got: option.shortened)
        }
        return options?["for"]
    }

    /// - Parameters:
    ///   - value: what a call has sent.
    ///   - time: the option `for`, as text.
    /// Throws `invalid` for what does not fit.
    package init(
        _ value: JSONValue,
        for time: JSONValue?,
        of declaration: ValueDeclaration
    ) throws(CommandError) {
        if declaration.takesPatterns, let pattern = value.arrayValue {
            guard time == nil else {
                throw .invalid("/1/for", expected: "no time for a pattern, which has its own", got: time?.gist ?? "")
            }
            self = try Self.pattern(pattern, declaration)
            return
        }
        guard let accepted = declaration.accept(value) else {
            let pattern =
                declaration.takesPatterns ? ", or a pattern in ms, as a list of its own: [[200, 100, 200]]" : ""
            throw .invalid("/0", expected: "value, \(declaration.parameter.expectation)\(pattern)", got: value.gist)
        }
        // A fan that stands still does not turn backwards.
        first = accepted.numberValue == 0 ? .integer(0) : accepted
        guard let time, time != .null else { return }
        guard let text = time.stringValue, let duration = Duration(text: text), duration <= Self.maxTime else {
            throw .invalid("/1/for", expected: "for, a time such as 500ms or 5s, from 1ms to 1h", got: time.gist)
        }
        later = [Step(after: duration, value: declaration.initial)]
    }

    private static func pattern(
        _ pattern: [JSONValue],
        _ declaration: ValueDeclaration
    ) throws(CommandError) -> OutputPlan {
        guard (1...maxPattern).contains(pattern.count) else {
            let expected = "a pattern of 1 to \(maxPattern) times in ms, the first of them on"
            throw .invalid("/0", expected: expected, got: "\(pattern.count) times")
        }
        var plan = OutputPlan(first: .bool(true))
        for (index, item) in pattern.enumerated() {
            guard let time = item.integerValue, (1...Int64(maxStep)).contains(time) else {
                throw .invalid("/0/\(index)", expected: "whole milliseconds from 1 to \(maxStep)", got: item.gist)
            }
            let isLast = index == pattern.count - 1
            let value = isLast ? declaration.initial : .bool(index % 2 == 1)
            plan.later.append(Step(after: .milliseconds(time), value: value))
        }
        plan.isPattern = true
        return plan
    }

    private init(first: JSONValue) { self.first = first }

    /// Whether it ends with the connection that makes it. A robot repeats «for» and needs no lease, and nor does a default.
    func isLeased(_ declaration: ValueDeclaration) -> Bool {
        declaration.hasLease && (isPattern || later.isEmpty && first != declaration.initial)
    }
}
