import Foundation
import JavaScriptCore
import Testing

/// What a stored procedure gets of the database: the class of Apple's examples, whose members have no types of their own.
private final class Context: JSExport {
    nonisolated(unsafe) static var shared = Context()
    var entries: [Any] = [["day": "2026-11-21", "steps": 7], ["day": "2026-11-22", "steps": 9.5], "broken"]
    var settings: [String: Any] = ["unit": "km", "goal": 10]
    var note: Any? = "hello"
    var last: Any = 1

    func queryEntriesBetweenDate(start: String, end: Any) -> [Any] {
        let days = entries.compactMap { $0 as? [String: Any] }
        return days.filter { day in (start...("\(end)")).contains(day["day"] as? String ?? "") }
    }

    func save(_ entry: [String: Any], _ more: Any?) { entries.append([entry["day"] ?? "?", more ?? "nothing"]) }

    static let jsExports = JSExports("Context")
        .constructor { (settings: [String: Any]) in
            let context = Context()
            context.settings = settings
            return context
        }
        .property("entries", \Context.entries)
        .property("settings", \Context.settings)
        .property("note", \Context.note)
        .property("last", \Context.last)
        .property(readOnly: "first") { (context: Context) in context.entries.first }
        .method("queryEntriesBetweenDate(start:end:)", Context.queryEntriesBetweenDate)
        .method("save", Context.save)
        .classMethod("context") { () in Context.shared }
        .classMethod("count") { (values: [Any]?, members: [String: Any]?) in
            "\(values.map { "\($0.count)" } ?? "nil") \(members.map { "\($0.count)" } ?? "nil")"
        }
        .classMethod("describe") { (value: Any?, values: [Any]) in "\(value ?? "nil") and \(values.count)" }
}

@Suite("Exports of any type, and scripts with an address")
struct AnyTypeTests {
    let context: JSContext

    init() throws {
        context = try #require(JSContext())
        // A class is its constructor.
        context.setObject(Context.self, forKeyedSubscript: "Context")
    }

    @Test func `a class that is set under a name is its constructor`() throws {
        #expect(context.evaluateScript("new Context({goal: 3}).settings.goal").toInt32() == 3)
        #expect(context.evaluateScript("new Context({}) instanceof Context").toBool())
        #expect(context.evaluateScript("Context.context() === Context.context()").toBool())
        context.setObject(["Known": Context.self], forKeyedSubscript: "classes")
        #expect(context.evaluateScript("classes.Known === Context").toBool())
        #expect(context.exception == nil)
    }

    @Test func `properties of any type are read and set`() throws {
        let object = Context()
        context.setObject(object, forKeyedSubscript: "object")
        #expect(context.evaluateScript("object.entries[1].steps + object.settings.goal").toDouble() == 19.5)
        #expect(context.evaluateScript("object.note + typeof object.first").toString() == "helloobject")
        context.evaluateScript(
            "object.entries = [1, 'two', {three: 3}]; object.settings = {unit: 'm'}; object.last = true"
        )
        #expect(object.entries.count == 3 && object.settings["unit"] as? String == "m" && object.last as? Bool == true)
        context.evaluateScript("object.note = undefined")
        #expect(object.note == nil && context.evaluateScript("object.note").isUndefined)
        context.evaluateScript("object.settings = 5")
        #expect(context.exception.toString().hasPrefix("TypeError"))
        #expect(object.settings["unit"] as? String == "m")
    }

    @Test func `null and nothing are nil for optional lists and members, as for other types`() throws {
        #expect(context.evaluateScript("Context.count([1, 2], {a: 1})").toString() == "2 1")
        for nothing in ["null, null", "undefined, null", "null", ""] {
            #expect(context.evaluateScript("Context.count(\(nothing))").toString() == "nil nil")
        }
        let closure: ([Any]?, [String: Any]?) -> Bool = { $0 == nil && $1 == nil }
        context.setObject(closure as Any, forKeyedSubscript: "areNil")
        #expect(context.evaluateScript("areNil(null, null)").toBool() && context.exception == nil)
        context.evaluateScript("Context.count({})")
        #expect(context.exception.toString() == "TypeError: argument 1 is not an array")
        context.evaluateScript("Context.count([], [])")
        #expect(context.exception.toString() == "TypeError: argument 2 is not an object")
    }

    @Test func `methods take and give any type`() throws {
        let object = Context()
        context.setObject(object, forKeyedSubscript: "object")
        context.evaluateScript("object.save({day: 'today'}, [1, 2]); object.save({})")
        #expect(object.entries.count == 5)
        #expect((object.entries.last as? [Any])?.last as? String == "nothing")
        #expect(context.evaluateScript("Context.describe(null, [1, 2])").toString().hasSuffix("and 2"))
        context.evaluateScript("object.save(7)")
        #expect(context.exception.toString().hasPrefix("TypeError: argument 1"))
    }

    @Test func `a stored procedure runs, and its errors have the file's address and the line`() throws {
        let script = """
            function execute(start, end, callback) {

            var context = Context.context();

            var entries = context.queryEntriesBetweenDateStartEnd(start, end);

            callback(entries.length > 0);

            }
            """
        nonisolated(unsafe) var says: [String] = []
        context.exceptionHandler = { _, exception in
            let stack = exception?.objectForKeyedSubscript("sourceURL")?.toString() ?? ""
            says.append(
                "\(exception?.toString() ?? "") in \(stack):\(exception?.objectForKeyedSubscript("line")?.toString() ?? "")"
            )
        }
        let url = URL(fileURLWithPath: "/procedures/hasEntries.js")
        context.evaluateScript(script, withSourceURL: url)
        let execute = try #require(context.objectForKeyedSubscript("execute"))
        nonisolated(unsafe) var answers: [Bool] = []
        for (start, end) in [("2026-11-21", "2026-11-22"), ("2026-12-01", "2026-12-02")] {
            let callback: (JSValue) -> Void = { answers.append($0.toBool()) }
            execute.call(withArguments: [start, end, callback])
        }
        #expect(answers == [true, false] && says.isEmpty)
        context.evaluateScript(script.replacing("Context.context()", with: "Context.missing()"), withSourceURL: url)
        context.objectForKeyedSubscript("execute").call(withArguments: ["a", "b"])
        #expect(says.count == 1 && says.first?.hasSuffix(" in file:///procedures/hasEntries.js:3") == true, "\(says)")
        // A text, and none.
        context.evaluateScript("throw new Error('one')", withSourceURL: "one.js")
        context.evaluateScript("throw new Error('two')", withSourceURL: nil)
        #expect(says.count == 3 && says[1].hasSuffix("in one.js:1"))
    }
}
