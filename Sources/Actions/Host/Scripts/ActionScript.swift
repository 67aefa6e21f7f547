package import JSON

/// The JavaScript that runs an action in a page. The program that shows the page runs these scripts, the first two in a
/// world of their own, the last in the page's.
package enum ActionScript {
    /// The program that shows the page, and how the actions' world exchanges texts with it.
    package enum Host: Sendable {
        /// WebKitGTK: a script message handler with reply, named ``handler``.
        case window
        /// An extension's world for user scripts, in Chromium and Firefox.
        case browser

        package static let handler = "quickconnectAction"

        var function: String {
            switch self {
            case .window: "text => webkit.messageHandlers.\(Self.handler).postMessage(text)"
            case .browser: "text => (globalThis.browser ?? chrome).runtime.sendMessage(text)"
            }
        }
    }

    /// How many seconds `run` has to call `completionFunction`.
    package static let seconds = 30

    /// The body of an async function that loads an action and calls its `run`. Its value is the text of
    /// `{"value": {"results": …, "finalizes": Bool}}` or `{"error": {"code", "message", "line"?, "column"?, "source"?}}`.
    ///
    /// During this, and in ``finalize(_:token:)``, the world sends ``ActionRequest``s, and gets the text of `{"value":
    /// …}` or `{"error": …}`.
    /// - Parameters:
    ///   - action: the text of Action.js. Its syntax must have been checked, because it becomes the body of a function.
    ///   - site: where the action is allowed; in a document of another origin it does not run.
    ///   - token: identifies this run.
    package static func run(_ action: String, on site: WebOrigin, token: String, in host: Host) -> String {
        let given: JSONObject = [
            "token": .string(token), "site": .string(site.description), "seconds": .integer(Int64(seconds)),
        ]
        // Nothing but the start of its first line precedes the text, so that errors have its line numbers. Because of
        // the semicolon, "use strict" is not a directive of this function, which would forbid a parameter named eval.
        return """
            const load = function (eval, makeCall) {;\(action)
            ;return typeof ExtensionPreprocessingJS === 'undefined' ? undefined : ExtensionPreprocessingJS }
            return (\(runtime))(\(host.function), \(JSONValue.object(given).text), load)
            """
    }

    /// The body of an async function that calls `finalize` in the same document. Its value is the text of `{"value":
    /// null}`, `{"error": …}`, or `{"changed": true}` if the document is another one; then nothing has run.
    /// - Parameter argument: the value of ``ActionResults/argumentKey``.
    package static func finalize(_ argument: JSONValue, token: String) -> String {
        """
        const action = globalThis.quickconnectAction
        if (action?.token !== \(JSONValue.string(token).text)) return '{"changed":true}'
        return action.finalize(\(argument.text))
        """
    }

    /// A body as a script whose value is a promise.
    package static func program(_ body: String) -> String {
        "(async () => { \(body)\n})()\n//# sourceURL=\(actionURL)"
    }

    /// A script for the page's own world that runs what somebody has typed. Its value is `undefined`, or if it throws,
    /// an object with the one member ``mistakeKey``: {code, message, source, line?, column?}.
    /// - Parameters:
    ///   - text: the script. Its syntax must have been checked, because it becomes the body of a function.
    ///   - site: where it is allowed; in a document of another origin it does not run.
    package static func page(_ text: String, on site: WebOrigin) -> String {
        let opening =
            "(() => { try { if (\(here) !== \(JSONValue.string(site.description).text)) throw 'the page has changed'; "
        return """
            \(opening)\(text)
            } catch (error) {
            \tconst place = /typed\\.js:(\\d+):(\\d+)/.exec(error?.stack ?? '')
            \tconst line = Number(place?.[1] ?? error?.line ?? error?.lineNumber) || undefined
            \tconst column = Number(place?.[2] ?? error?.column ?? error?.columnNumber) || undefined
            \tconst shift = line === 1 ? \(opening.utf16.count) : 0
            \treturn { \(mistakeKey): { code: 'scriptFailed', message: String(error), source: 'script', line, column: column && Math.max(1, column - shift) } }
            } })()
            //# sourceURL=\(pageURL)
            """
    }

    /// The site of a document, in the form of ``WebOrigin``. A page cannot change `location`.
    private static let here = "location.protocol + '//' + location.host"

    /// The file name in errors of an action.
    package static let actionURL = "quickconnect:///\(ActionFolders.fileName)"
    /// The file name in errors of a typed script.
    package static let pageURL = "quickconnect:///typed.js"
    package static let mistakeKey = "quickconnectMistake"

    private static let runtime = String(decoding: PackageResources.run_js, as: UTF8.self).trimmingLines
}

extension String {
    /// Removes the leading comment and the trailing line break, which leaves an expression.
    fileprivate var trimmingLines: String {
        let lines = split(separator: "\n").drop { $0.hasPrefix("//") }
        return lines.joined(separator: "\n")
    }
}
