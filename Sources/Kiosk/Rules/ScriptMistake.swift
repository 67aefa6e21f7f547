/// Why a script that was run in a page has no value.
package struct ScriptMistake: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Cause: Sendable, Hashable {
        /// The script itself failed: it threw, or is not valid JavaScript.
        case script
        /// Its value cannot leave the page: a function, a promise, a part of the document.
        case unsupportedValue
        /// The page went away meanwhile: another one was opened, or its process has ended.
        case pageLost
    }

    package var cause: Cause
    /// A sentence, such as `TypeError: x is not a function`.
    package var message: String
    /// The line of the script, from 1; nil if the engine does not report it.
    package var line: Int?
    package var column: Int?

    package init(_ cause: Cause, _ message: String, line: Int? = nil, column: Int? = nil) {
        self.cause = cause
        self.message = message
        self.line = line
        self.column = column
    }

    /// Parses the engine's message for a script that was run under an address: `quickconnect:///x:3:5: TypeError: …`,
    /// or without a column.
    package init(engine text: String, source: String) {
        guard text.hasPrefix("\(source):"), case let parts = text.dropFirst(source.count + 1),
            let colon = parts.firstIndex(of: ":"), let line = Int(parts[..<colon])
        else {
            self.init(.script, text)
            return
        }
        var rest = parts[parts.index(after: colon)...]
        let column = rest.firstIndex(of: ":").flatMap { Int(rest[..<$0]) }
        if column != nil, let end = rest.firstIndex(of: ":") { rest = rest[rest.index(after: end)...] }
        self.init(.script, String(rest.drop { $0 == " " }), line: line, column: column)
    }

    package var description: String { line.map { "line \($0): \(message)" } ?? message }
}
