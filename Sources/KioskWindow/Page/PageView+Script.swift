import CWebKit
import JSON
import KioskRules

/// Runs what a person or a program writes to look into the page: an expression, statements, or a function's body.
extension PageView {
    /// Runs a text in the page's world. Its value is that of its `return`, else of its last expression; a promise is
    /// awaited. A value that no JSON can carry, such as an element, is `null` if there was no `return`.
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
            call(Self.telling(body), ["input": data], in: .page) { result in
                if isImplicit, case .failure(let mistake) = result, mistake.cause == .unsupportedValue {
                    return completion(.success(nil))
                }
                completion(result)
            }
        }
    }

    private static let withData = "const data = JSON.parse(input); "

    /// The body, with errors that name its line; the engine leaves that out. All before the body is on its first line.
    private static func telling(_ body: String) -> String {
        """
        \(withData)try { return await (async () => { \(body)
        })() } catch (error) {
            const source = '\(source)'
            const [, line, column] = RegExp(source + ':([0-9]+):([0-9]+)').exec(Object(error).stack) || []
            throw line ? `${source}:${line}:${column}: ${error}` : error
        }
        """
    }
}
