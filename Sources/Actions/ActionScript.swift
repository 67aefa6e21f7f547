public import JSON

/// The JavaScript that runs an action in a page. The program that shows the page runs these texts, the first two in a
/// world of its own, the last in the page's.
public enum ActionScript {
    /// The program that shows the page, and how the world of actions there sends it a text and gets one back.
    public enum Host: Sendable {
        /// WebKitGTK: a script message handler with reply, named ``handler``.
        case window
        /// An extension's world for user scripts, in Chromium and Firefox.
        case browser

        public static let handler = "quickconnectAction"

        var function: String {
            switch self {
            case .window: "text => webkit.messageHandlers.\(Self.handler).postMessage(text)"
            case .browser: "text => (globalThis.browser ?? chrome).runtime.sendMessage(text)"
            }
        }
    }

    /// How long `run` has until it calls `completionFunction`.
    public static let seconds = 30

    /// The body of an async function that loads an action and calls its `run`. Its value is the text of
    /// `{"value": {"results": …, "finalizes": Bool}}` or `{"error": {"code", "message", "line"?, "column"?, "source"?}}`.
    ///
    /// Meanwhile, and in ``finalize(_:token:)``, the world sends ``ActionRequest``s, and gets the text of `{"value": …}` or
    /// `{"error": …}`.
    /// - Parameters:
    ///   - action: the text of Action.js. Its syntax must have been checked: it stands inside of a function.
    ///   - site: where the action is allowed: in a document from elsewhere it does not run.
    ///   - token: tells this run from others.
    public static func run(_ action: String, on site: WebOrigin, token: String, in host: Host) -> String {
        let given: JSONObject = [
            "token": .string(token), "site": .string(site.description), "seconds": .integer(Int64(seconds)),
        ]
        // In front of the text nothing but its first line's beginning, so that errors have its lines. The semicolon makes
        // «use strict» no directive of this function, whose parameter could not be called eval then.
        return """
            const load = function (eval, makeCall) {;\(action)
            ;return typeof ExtensionPreprocessingJS === 'undefined' ? undefined : ExtensionPreprocessingJS }
            return (\(runtime))(\(host.function), \(JSONValue.object(given).text), load)
            """
    }

    /// The body of an async function that calls `finalize` in the same document. Its value is the text of `{"value": null}`,
    /// `{"error": …}`, or `{"changed": true}` where the document is another one; then nothing has run.
    /// - Parameter argument: what stands under ``ActionResults/argumentKey``.
    public static func finalize(_ argument: JSONValue, token: String) -> String {
        """
        const action = globalThis.quickconnectAction
        if (action?.token !== \(JSONValue.string(token).text)) return '{"changed":true}'
        return action.finalize(\(argument.text))
        """
    }

    /// A body as a script whose value is a promise.
    public static func program(_ body: String) -> String {
        "(async () => { \(body)\n})()\n//# sourceURL=\(actionURL)"
    }

    /// A script for the page's own world that runs what somebody has typed. Its value is `undefined`, or where it throws an
    /// object with the one member ``mistakeKey``: {code, message, source, line?, column?}.
    /// - Parameters:
    ///   - text: its syntax must have been checked: it stands inside of a function.
    ///   - site: in a document from elsewhere it does not run.
    public static func page(_ text: String, on site: WebOrigin) -> String {
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

    /// The site of a document, as ``WebOrigin`` writes it. No page can change what `location` is.
    private static let here = "location.protocol + '//' + location.host"

    /// What errors of an action name as the file.
    public static let actionURL = "quickconnect:///\(ActionFolders.fileName)"
    /// What errors of a typed script name as the file.
    public static let pageURL = "quickconnect:///typed.js"
    public static let mistakeKey = "quickconnectMistake"

    private static let runtime = String(decoding: PackageResources.run_js, as: UTF8.self).trimmingLines
}

extension String {
    /// Without the comment in front and the line break behind: an expression.
    fileprivate var trimmingLines: String {
        let lines = split(separator: "\n").drop { $0.hasPrefix("//") }
        return lines.joined(separator: "\n")
    }
}
