/// Why a script that was run in a page has no value.
public struct ScriptMistake: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Cause: Sendable, Hashable {
        /// The script itself failed: it threw, or is not valid JavaScript.
        case script
        /// Its value cannot leave the page: a function, a promise, a part of the document.
        case unsupportedValue
        /// The page went away meanwhile: another one was opened, or its process has ended.
        case pageLost
    }

    public var cause: Cause
    /// A sentence, such as `TypeError: x is not a function`.
    public var message: String
    /// The line of the script, from 1; nil if the engine does not report it.
    public var line: Int?
    public var column: Int?

    public init(_ cause: Cause, _ message: String, line: Int? = nil, column: Int? = nil) {
        self.cause = cause
        self.message = message
        self.line = line
        self.column = column
    }

    /// Parses the engine's message for a script that was run under an address: `quickconnect:///x:3:5: TypeError: …`.
    public init(engine text: String, source: String) {
        let parts = text.hasPrefix("\(source):") ? text.dropFirst(source.count + 1) : Substring(text)
        let fields = parts.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        if text.hasPrefix("\(source):"), fields.count == 3, let line = Int(fields[0]), let column = Int(fields[1]) {
            self.init(.script, String(fields[2].drop { $0 == " " }), line: line, column: column)
        } else {
            self.init(.script, text)
        }
    }

    public var description: String { line.map { "line \($0): \(message)" } ?? message }
}
