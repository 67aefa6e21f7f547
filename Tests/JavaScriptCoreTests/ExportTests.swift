import JavaScriptCore
import Testing

/// A lamp, as a program would export it.
private final class Lamp: JSExport {
    var level = 0.0 { didSet { changes.append("\(oldValue) to \(level)") } }
    var name: String
    var changes: [String] = []
    var partner: Lamp?

    init(_ name: String) { self.name = name }

    func fade(to level: Double, in seconds: Double) -> String {
        self.level = level
        return "\(name) is at \(level) after \(seconds) s"
    }

    func breakDown() throws { throw Burst() }

    func link(_ other: Lamp) { partner = other }

    struct Burst: Error, CustomStringConvertible { let description = "the bulb burst" }

    static let jsExports = JSExports("Lamp")
        .constructor { (name: String) in Lamp(name) }
        .property("level", \Lamp.level)
        .property(readOnly: "name") { (lamp: Lamp) in lamp.name }
        .property(readOnly: "partner") { (lamp: Lamp) in lamp.partner }
        .method("fade(to:in:)", Lamp.fade)
        .method("breakDown", Lamp.breakDown)
        .method("link", Lamp.link)
        .classMethod("count") { () in 3 }
}

private final class Lantern: JSExport {
    var oil = 5
    static let jsExports = JSExports("Lantern", extending: Lamp.self).property("oil", \Lantern.oil)
}

@Suite struct ExportTests {
    let context: JSContext

    init() throws {
        context = try #require(JSContext())
        context["Lamp"] = context.constructor(of: Lamp.self)
    }

    @Test func propertiesAreReadAndSetWithTheirObservers() throws {
        let lamp = Lamp("desk")
        context.setObject(lamp, forKeyedSubscript: "lamp")
        context.evaluateScript("lamp.level = 3; lamp.level += 1")
        #expect(lamp.changes == ["0.0 to 3.0", "3.0 to 4.0"])
        #expect(context.evaluateScript("lamp.name").toString() == "desk")
        context.evaluateScript("'use strict'; lamp.name = 'x'")
        #expect(context.exception.toString().hasPrefix("TypeError"))
        #expect(lamp.name == "desk")
        #expect(
            context.evaluateScript("Object.keys(Object.getPrototypeOf(lamp)).join()").toString() == "level,name,partner"
        )
    }

    @Test func methodsAreNamedAfterTheirLabels() throws {
        let lamp = Lamp("desk")
        context.setObject(lamp, forKeyedSubscript: "lamp")
        #expect(context.evaluateScript("lamp.fadeToIn(2, 0.5)").toString() == "desk is at 2.0 after 0.5 s")
        #expect(
            context.evaluateScript("try { lamp.breakDown() } catch (e) { e.message }").toString() == "the bulb burst"
        )
        #expect(context.evaluateScript("lamp.changes").isUndefined)
    }

    @Test func theConstructorAndTheClassMethods() throws {
        let value: JSValue = context.evaluateScript("var l = new Lamp('hall'); l")
        let lamp = try #require(value.toObject() as? Lamp)
        #expect(lamp.name == "hall")
        #expect(value.toObjectOf(Lamp.self) is Lamp)
        #expect(value.toObjectOf(Lantern.self) == nil)
        #expect(context.evaluateScript("l instanceof Lamp && l.constructor === Lamp").toBool())
        #expect(context.evaluateScript("Lamp.count()").toInt32() == 3)
        context.evaluateScript("Lamp('x')")
        #expect(context.exception.toString() == "TypeError: Lamp is a class: write «new Lamp(…)»")
    }

    @Test func anObjectHasOneWrapper() throws {
        let (a, b) = (Lamp("a"), Lamp("b"))
        context.setObject(a, forKeyedSubscript: "a")
        context.setObject(a, forKeyedSubscript: "again")
        context.setObject(b, forKeyedSubscript: "b")
        #expect(context.evaluateScript("a === again && a !== b").toBool())
        context.evaluateScript("a.link(b)")
        #expect(a.partner === b)
        #expect(context.evaluateScript("a.partner === b").toBool())
    }

    @Test func aMethodOnSomethingElseIsATypeError() throws {
        context.setObject(Lamp("a"), forKeyedSubscript: "a")
        for script in ["a.fadeToIn.call({}, 1, 2)", "a.link({})", "a.link.call(a, 5)"] {
            context.exception = nil
            context.evaluateScript(script)
            #expect(context.exception?.toString().hasPrefix("TypeError") == true, "\(script)")
        }
    }

    @Test func anExportedClassInherits() throws {
        context.setObject(Lantern(), forKeyedSubscript: "lantern")
        #expect(context.evaluateScript("lantern instanceof Lamp && lantern.oil").toInt32() == 5)
        context.evaluateScript("lantern.fadeToIn(1, 1)")
        #expect(context.exception.toString().contains("not a Lamp"))
    }

    @Test func anObjectThatExportsNothingComesBackAsItIs() throws {
        final class Secret {}
        let secret = Secret()
        context.setObject(secret, forKeyedSubscript: "secret")
        #expect(context.evaluateScript("Object.keys(secret).length").toInt32() == 0)
        let isSame = (context["secret"].toObject() as? Secret) === secret
        #expect(isSame)
    }
}
