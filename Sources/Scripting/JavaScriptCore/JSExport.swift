/// A Swift class whose objects JavaScript may use: their properties and methods, and the class's constructor and
/// methods.
///
///     final class Lamp: JSExport {
///         var level = 0.0 { didSet { light(level) } }
///         func fade(to level: Double, in seconds: Double) { … }
///
///         static let jsExports = JSExports("Lamp")
///             .constructor { Lamp() }
///             .property("level", \Lamp.level)
///             .method("fade(to:in:)", Lamp.fade)
///     }
///
/// JavaScript's wrapper keeps the Swift object alive; an object has the same wrapper as long as JavaScript holds it.
/// Only what is listed is visible. When JavaScript sets a property, its `willSet` and `didSet` run.
public protocol JSExport: AnyObject, JSConvertible {
    /// What JavaScript sees of the class. Made once.
    static var jsExports: JSExports { get }
}

extension JSExport {
    /// The wrapper of the object: the same one as long as JavaScript holds it.
    public func toJSValue(in context: JSContext) -> JSValue { JSValue(context.wrap(self), in: context) }

    /// The object of a wrapper. Throws a ``JSConversionError`` if the value is not one of this class.
    public static func fromJSValue(_ value: JSValue) throws -> Self {
        guard let object = ObjectBox.of(value.ref, in: value.context.ref)?.object as? Self else {
            throw JSConversionError(expected: "\(Self.jsExports.name)")
        }
        return object
    }
}

/// How an exported name is formed: a Swift name with its labels becomes one word, each label with a capital letter, as
/// Apple's framework does with a selector. `fade(to:in:)` is `fadeToIn`, `value(_:)` and `value` are `value`.
enum ExportedName {
    static func of(_ swiftName: String) -> String {
        guard let parenthesis = swiftName.firstIndex(of: "(") else { return swiftName }
        let labels = swiftName[parenthesis...].dropFirst().prefix { $0 != ")" }.split(separator: ":")
        return labels.filter { $0 != "_" }.reduce(into: String(swiftName[..<parenthesis])) { name, label in
            name += label.prefix(1).uppercased() + label.dropFirst()
        }
    }
}
