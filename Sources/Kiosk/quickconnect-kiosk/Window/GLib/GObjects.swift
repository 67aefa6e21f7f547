import CWebKit

/// Casts a pointer to an object to another class.
func cast<T>(_ object: UnsafeMutableRawPointer, to _: T.Type = T.self) -> UnsafeMutablePointer<T> {
    object.assumingMemoryBound(to: T.self)
}

/// The owner of data that C hands back.
func owner<T: AnyObject>(_ data: UnsafeMutableRawPointer, as _: T.Type = T.self) -> T {
    Unmanaged<T>.fromOpaque(data).takeUnretainedValue()
}

/// The values of an object's properties for its creation, because GLib's own functions for that are variadic.
enum Property {
    case string(String)
    case flag(Bool)
    case object(UnsafeMutableRawPointer)
    case boxed(GType, UnsafeMutableRawPointer)
    case enumeration(GType, UInt32)

    // The macros G_TYPE_… are not imported; a fundamental type is its number shifted left.
    private static let booleanType = GType(5 << 2)
    private static let stringType = GType(16 << 2)
    private static let objectType = GType(20 << 2)

    private func set(_ value: UnsafeMutablePointer<GValue>) {
        switch self {
        case .string(let text):
            g_value_init(value, Self.stringType)
            g_value_set_string(value, text)
        case .flag(let flag):
            g_value_init(value, Self.booleanType)
            g_value_set_boolean(value, flag ? 1 : 0)
        case .object(let object):
            g_value_init(value, Self.objectType)
            g_value_set_object(value, object)
        case .enumeration(let type, let number):
            g_value_init(value, type)
            g_value_set_enum(value, gint(number))
        case .boxed(let type, let pointer):
            g_value_init(value, type)
            g_value_set_boxed(value, pointer)
        }
    }

    /// Creates an object of a class.
    static func make(_ type: GType, _ properties: [(name: String, value: Property)]) -> UnsafeMutableRawPointer? {
        var names: [UnsafePointer<CChar>?] = properties.map { UnsafePointer(g_strdup($0.name)) }
        var values = [GValue](repeating: GValue(), count: properties.count)
        for index in values.indices { properties[index].value.set(&values[index]) }
        defer {
            for index in values.indices { g_value_unset(&values[index]) }
            for name in names { g_free(UnsafeMutablePointer(mutating: name)) }
        }
        return g_object_new_with_properties(type, guint(properties.count), &names, &values).map {
            UnsafeMutableRawPointer($0)
        }
    }
}

/// Takes the text of an error, and frees the error.
func takeMessage(_ error: UnsafeMutablePointer<GError>?) -> (code: Int32, text: String) {
    guard let error else { return (0, "no reason was given") }
    defer { g_error_free(error) }
    return (error.pointee.code, String(cString: error.pointee.message))
}
