import Foundation
import JavaScriptCore
import MacroEngine
import Testing

/// The article's program: buttons that run macros, rings that move, an editor. It has one engine and one thing.
@Suite(.serialized) struct ArticleTests {
    private final class Rings: ProgressUpdate {
        private(set) var told: [(ring: String, value: Float)] = []

        func innerProgressUpdate(_ progress: Float) { told.append(("inner", progress)) }
        func middleProgressUpdate(_ progress: Float) { told.append(("middle", progress)) }
        func outerProgressUpdate(_ progress: Float) { told.append(("outer", progress)) }
    }

    private let engine = MacroEngine.sharedInstance
    private let heard = Heard(.sharedInstance)
    private let thing = Thing.sharedInstance
    private let rings = Rings()
    private let macros: [String: MacroMethod]

    init() throws {
        macros = try Self.loadMacros()
        thing.delegate = nil
        (thing.innerProgress, thing.middleProgress, thing.outerProgress) = (0, 0, 0)
        thing.delegate = rings
    }

    private static var files: [URL] {
        get throws {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            return try FileManager.default.contentsOfDirectory(
                at: root.appendingPathComponent("macros"),
                includingPropertiesForKeys: nil
            )
        }
    }

    private static func loadMacros() throws -> [String: MacroMethod] {
        let macros = try files.map { file in
            let text = try String(contentsOf: file, encoding: .utf8)
            return MacroMethod(javascript: text, key: file.deletingPathExtension().lastPathComponent)
        }
        return Dictionary(uniqueKeysWithValues: macros.map { ($0.key, $0) })
    }

    private func macro(_ name: String) throws -> MacroMethod { try #require(macros[name]) }

    @Test func theShippedMacrosRunAndTellThreeEventsEach() throws {
        #expect(macros.keys.sorted() == ["addInner", "addOuter", "addRandom", "subtractRandom"])
        for macro in macros.values {
            (thing.innerProgress, thing.middleProgress, thing.outerProgress) = (5, 5, 5)
            let before = rings.told.count
            #expect(macro.call().isUndefined && macro.error == nil)
            let told = rings.told[before...]
            #expect(told.map(\.ring) == ["inner", "middle", "outer"])
            #expect(told.allSatisfy { $0.value != 5 && abs($0.value - 5) <= 1 })
        }
        #expect(heard.take().isEmpty)
    }

    @Test func theArticlesMacroIsShippedUnchanged() throws {
        #expect(
            try macro("addRandom").javascript == """
                function() {
                    var currentInner = getInnerProgress();
                    var currentMiddle = getMiddleProgress();
                    var currentOuter = getOuterProgress();

                    setInnerProgress(currentInner + Math.random());
                    setMiddleProgress(currentMiddle + Math.random());
                    setOuterProgress(currentOuter + Math.random());
                }

                """
        )
    }

    @Test func aMacroMovesEachRingToItsEndAndNoFurther() throws {
        for _ in 0..<200 { try macro("addRandom").call() }
        #expect([thing.innerProgress, thing.middleProgress, thing.outerProgress] == [10, 10, 10])
        #expect(rings.told.count == 600 && rings.told.allSatisfy { (0...10).contains($0.value) })
        for _ in 0..<200 { try macro("subtractRandom").call() }
        #expect([thing.innerProgress, thing.middleProgress, thing.outerProgress] == [0, 0, 0])
        #expect(rings.told.count == 1200 && rings.told.suffix(3).allSatisfy { $0.value == 0 })
        for _ in 0..<200 { try macro("addInner").call() }
        #expect([thing.innerProgress, thing.middleProgress, thing.outerProgress] == [10, 0, 0])
        for _ in 0..<200 { try macro("addOuter").call() }
        #expect([thing.innerProgress, thing.middleProgress, thing.outerProgress] == [0, 0, 10])
    }

    @Test func theEditorsTextIsWhatTheNextPressRuns() throws {
        let macro = try macro("addRandom")
        macro.javascript = "function(to) { setInnerProgress(to); return getInnerProgress(); }"
        #expect(macro.call(4.5).toDouble() == 4.5)
        #expect(macro.call(99).toDouble() == 10)
        #expect(rings.told.map(\.value) == [4.5, 10])
        macro.javascript = "function(to) { setInnerProgress(to; }"
        let error = try #require(heard.take().first)
        #expect(error.title == "Javascript Evaluation Error")
        #expect(error.message == "SyntaxError: Unexpected token ';'. Expected ')' to end an argument list.")
        #expect(error.key == "addRandom" && error.line == 1 && error.source == macro.javascript)
        #expect(macro.call(-1).toDouble() == 0)
    }
}
