import KioskRules
import Testing

@Suite("Mistakes of scripts in a page")
struct ScriptMistakeTests {
    private let source = "quickconnect:///script"

    private func mistake(_ text: String) -> ScriptMistake { ScriptMistake(engine: text, source: source) }

    @Test func `the engine's message has a line, and may have a column`() {
        let thrown = mistake("\(source):3:5: TypeError: a: b")
        #expect(thrown == ScriptMistake(.script, "TypeError: a: b", line: 3, column: 5))
        #expect("\(thrown)" == "line 3: TypeError: a: b")
        #expect(mistake("\(source):2: SyntaxError: x") == ScriptMistake(.script, "SyntaxError: x", line: 2))
    }

    @Test(arguments: [
        "TypeError: x", "quickconnect:///other:1:2: x", "quickconnect:///script:x", "quickconnect:///script", "",
    ])
    func `a message without them stays as it is`(text: String) {
        #expect(mistake(text) == ScriptMistake(.script, text))
    }
}
