import Foundation
import JSON
import JavaScriptCore
import MacroEngine
import TestRig
import Testing

@testable import Actions

/// The texts that run actions, in the engine of the window, with a world that stands in for the page's.
@Suite("The JavaScript of actions")
struct ActionScriptTests {
    private let context: JSContext
    private let site: WebOrigin

    init() throws {
        let site = try #require(WebOrigin("https://example.org/"))
        self.site = site
        context = try #require(JSContext())
        // The window's side: it runs scripts in the same world, and keeps what was asked.
        _ = try context.evaluate(
            """
            globalThis.location = { protocol: 'https:', host: 'example.org' }
            globalThis.document = { URL: 'https://example.org/', title: 'A title' }
            globalThis.shown = []
            globalThis.alert = text => { shown.push(text) }
            globalThis.setTimeout = () => 0
            globalThis.asked = []
            globalThis.page = text => text
            globalThis.webkit = { messageHandlers: { quickconnectAction: { postMessage: async text => {
                asked.push(text)
                const request = JSON.parse(text)
                if (request.verb !== 'evaluate') return JSON.stringify({ value: 'called' })
                const mistake = (0, eval)(pageText(request.text))
                return JSON.stringify(mistake ? { error: mistake.quickconnectMistake } : { value: null })
            } } } }
            """
        )
        let pageText: (String) -> String = { ActionScript.page($0, on: site) }
        context.setObject(pageText, forKeyedSubscript: "pageText")
    }

    private func shipped(_ name: String) throws -> String {
        let path = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined() + "/actions/\(name)/Action.js"
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    /// The value of a body; the engine runs what a promise waits for before it returns.
    private func value(_ body: String) throws -> String {
        _ = try context.evaluate(
            "(async () => { \(body)\n})().then(value => { globalThis.answer = value }, error => { globalThis.answer = 'rejected: ' + error })"
        )
        return try context.evaluate("answer").toString()
    }

    private func run(_ text: String) throws -> String {
        try value(ActionScript.run(text, on: site, token: "t", in: .window))
    }

    private func finalize(_ script: String, token: String = "t") throws -> String {
        try value(ActionScript.finalize(["customJavaScript": .string(script)], token: token))
    }

    @Test func `the printed action hands over title and address, and runs what was typed`() throws {
        let results = try ActionResults(run(shipped("page-title")))
        #expect(results.view == .editor && results.title == "A title")
        #expect(
            results.dictionary["NSExtensionJavaScriptPreprocessingResultsKey"] == [
                "URL": "https://example.org/", "title": "A title",
            ]
        )
        #expect(try finalize("alert(document.title);") == #"{"value":null}"#)
        #expect(try context.evaluate("shown.join()").toString() == "A title")
    }

    @Test func `another document, or another run, runs nothing`() throws {
        _ = try run(shipped("page-title"))
        #expect(try finalize("alert(1)", token: "u") == #"{"changed":true}"#)
        _ = try context.evaluate("delete globalThis.quickconnectAction")
        let text = try finalize("alert(1)")
        #expect(throws: ActionFailure.pageChanged) { try ActionFailure.value(in: text) }
        #expect(try context.evaluate("shown.length").toString() == "0")
    }

    @Test func `a page from elsewhere runs nothing`() throws {
        _ = try context.evaluate("location.host = 'example.net'")
        let failure = try #require(throws: ActionFailure.self) { try ActionResults(run(shipped("page-title"))) }
        #expect(failure.code == "cancelled")
        _ = try context.evaluate("location.host = 'example.org'")
        _ = try run(shipped("page-title"))
        _ = try context.evaluate("location.host = 'example.net'")
        #expect(try finalize("alert(1)").contains("the page has changed"))
        #expect(try context.evaluate("shown.length").toString() == "0")
    }

    @Test func `an error of what was typed comes back with its line`() throws {
        _ = try run(shipped("page-title"))
        let text = try finalize("let a = 1\nalert(a)\n  undefinedName()")
        let failure = try #require(throws: ActionFailure.self) { try ActionFailure.value(in: text) }
        #expect(failure.members["line"] == 3 && failure.members["source"] == "script")
        #expect(failure.message.contains("undefinedName"))
        #expect(try finalize("throw 5").contains(#""message":"5""#))
        let first = try #require(throws: ActionFailure.self) { try ActionFailure.value(in: finalize("missing()")) }
        #expect(first.members["line"] == 1 && (first.members["column"]?.integerValue ?? 99) <= 10)
    }

    @Test func `an error of the action comes back with its line`() throws {
        let text = "var ExtensionPreprocessingJS = {\n  run(parameters) {\n    nothing.at.all\n  }\n}"
        let failure = try #require(throws: ActionFailure.self) { try ActionResults(run(text)) }
        #expect(failure.members["line"] == 3 && failure.members["source"] == "Action.js")
    }

    @Test(arguments: ["", "var x = 1", "var ExtensionPreprocessingJS = {}", "var ExtensionPreprocessingJS = null"])
    func `what is no action says so`(text: String) throws {
        let failure = try #require(throws: ActionFailure.self) { try ActionResults(run(text)) }
        #expect(failure.message.contains("ExtensionPreprocessingJS"))
    }

    @Test func `what was given stays data`() throws {
        let text = "`${alert('run')}` </script> \u{2028} \\ \" ' \n"
        _ = try run(
            "var given; var ExtensionPreprocessingJS = { run(p) { p.completionFunction({ text: \(JSONValue.string(text).text) }) }, finalize(p) { globalThis.got = p.customJavaScript } }"
        )
        #expect(try finalize(text) == #"{"value":null}"#)
        #expect(try context.evaluate("got").toString() == text && context.evaluate("shown.length").toString() == "0")
    }

    @Test func `an error in Action.js has its path and its line, one in a typed script has neither`() throws {
        let text = "var a\nnothing.at.all\n"
        let thrown = ActionFailure([
            "code": "scriptFailed", "message": "m", "source": "Action.js", "line": 2, "column": 1,
        ])
        let placed = thrown.placed(in: text, at: "/x/Action.js").members
        #expect(
            placed["file"] == "/x/Action.js" && placed["text"] == "nothing.at.all" && placed["source"] == "Action.js"
        )
        for line: JSONValue in [0, -1, 9, "2", 1.5] {
            let failure = ActionFailure(["source": "Action.js", "line": line]).placed(in: text, at: "/x/Action.js")
            #expect(failure.members["file"] == "/x/Action.js" && failure.members["text"] == nil, "\(line)")
        }
        let typed = ActionFailure(["code": "scriptFailed", "source": "script", "line": 1])
        #expect(typed.placed(in: text, at: "/x/Action.js") == typed)
    }

    @Test func `makeCall asks the program, which knows the run`() throws {
        let results = try ActionResults(run(shipped("address-to-log")))
        #expect(results.view == .none)
        let asked = try context.evaluate("asked[0]").toString() ?? ""
        #expect(ActionRequest(asked, token: "t") == .call(command: "logMessage", message: "https://example.org/"))
        #expect(
            ActionRequest(asked, token: "u") == nil && ActionRequest("{}", token: "t") == nil
                && ActionRequest("", token: "") == nil
        )
    }

    @Test(arguments: ["page-title", "view-source", "readable-text", "address-to-log"])
    func `what is shipped has no mistake`(name: String) throws {
        #expect(ScriptSyntax.mistake(in: try shipped(name)) == nil)
    }

    @Test(arguments: [
        ("let x = 1\nlet y = = 2\n", 2, 9), ("alert(document.title;", 1, 21), ("a b", 1, 3), ("return 1", 1, 6),
        ("if (x) {\n", 2, 1),
    ])
    func `a mistake has its line, and where it can be found its column`(text: String, line: Int, column: Int?) throws {
        let mistake = try #require(ScriptSyntax.mistake(in: text))
        #expect(mistake.line == line && mistake.column == column, "\(mistake)")
    }
}
