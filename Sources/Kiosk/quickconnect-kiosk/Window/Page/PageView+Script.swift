import JSON
import KioskRules

/// Runs what a person or a program writes to look into the page: an expression, statements, or a function's body.
extension PageView {
    /// Runs a text in the page's world. Its value is that of its `return`, else of its last expression; a promise is
    /// awaited. A value that no JSON can carry, such as an element, or one too large for a line, is `null` if there was no
    /// `return`.
    /// - Parameters:
    ///   - data: JSON, for the variable `data`.
    ///   - completion: gets the value as JSON, or an error with its line in the text.
    func run(_ text: String, data: String, completion: @escaping Completion) {
        let script = String(decoding: PackageResources.evaluate_js, as: UTF8.self)
        call(script, ["text": text], in: .named("evaluate")) { [weak self] result in
            guard let self else { return }
            let found = (try? result.get()).flatMap { try? JSONParser.parse($0) }?.objectValue
            guard let body = found?["body"]?.stringValue else {
                // It does not parse: the engine says why, with the line.
                return call(Self.withData + text, ["input": data], in: .page, completion: completion)
            }
            let isImplicit = found?["isImplicit"]?.boolValue == true
            let finish: Completion = { completion(isImplicit ? Self.withoutUnfit($0) : $0) }
            if found?["isAsync"]?.boolValue == true {
                call(Self.telling("async () => { \(body)\n}"), ["input": data], in: .page, completion: finish)
            } else {
                runAtOnce(body, data, finish)
            }
        }
    }

    /// Runs a body that does not wait, and waits for its value if that is a promise. The engine has the value of a script
    /// before the page does anything else, such as hang; that of an async function it has later.
    private func runAtOnce(_ body: String, _ data: String, _ completion: @escaping Completion) {
        let script = """
            (() => { const data = JSON.parse(\(JSONValue.string(data).text)), value = (() => { \(body)
            })()
            if (typeof value?.then !== 'function') return value
            \(Self.kept) = value
            return '\(Self.promise)' })()
            """
        evaluate(script, in: .page) { [weak self] result in
            guard let self, case .success(let json) = result, json == JSONValue.string(Self.promise).text else {
                return completion(result)
            }
            let take = "async () => { const value = \(Self.kept); delete \(Self.kept); return value }"
            call(Self.telling(take), ["input": data], in: .page, completion: completion)
        }
    }

    /// Where a promise is between the two scripts, and what says that one is there.
    private static let (kept, promise) = ("globalThis[Symbol.for('quickconnect.promise')]", "quickconnect: a promise")

    /// The value of a statement that nobody has asked for is none if it cannot be passed on: the statement has run.
    private static func withoutUnfit(_ result: Result<String?, ScriptMistake>) -> Result<String?, ScriptMistake> {
        switch result {
        case .failure(let mistake) where mistake.cause == .unsupportedValue: .success(nil)
        case .success(let json?) where json.utf8.count > maximumBytes: .success(nil)
        default: result
        }
    }

    /// What a line of the protocol can hold, with room for what is around it.
    private static let maximumBytes = 4 << 20 - 1 << 12

    private static let withData = "const data = JSON.parse(input); "

    /// Calls an async function, with errors that name its line, or where in the page's own scripts they were made; the
    /// engine leaves that out. All before its body is on the first line.
    private static func telling(_ function: String) -> String {
        """
        \(withData)try { return await (\(function))() } catch (error) {
            const source = '\(source)'
            const [, line, column] = RegExp(source + ':([0-9]+):([0-9]+)').exec(Object(error).stack) || []
            if (line) throw `${source}:${line}:${column}: ${error}`
            const place = Object(error)
            throw place.sourceURL && place.line ? `${error} (${place.sourceURL}:${place.line}:${place.column})` : error
        }
        """
    }
}
