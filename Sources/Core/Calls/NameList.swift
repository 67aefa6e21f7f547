import JSON

/// Lists of names for error messages. An owner may write many long names, and an error contains such a list several
/// times, but must not be much larger than the call it answers.
enum NameList {
    /// `a, b, … and 12 more, z`: the first names that fit, how many are left out, and always the last one.
    /// - Parameter bytes: the most bytes that the names before the last one take.
    static func text(_ names: [String], bytes: Int) -> String {
        var room = bytes
        let shown = names.dropLast().map(\.shortened).prefix { name in
            room -= name.utf8.count
            return room >= 0
        }
        let left = names.count - 1 - shown.count
        return (shown + (left > 0 ? ["… and \(left) more"] : []) + names.suffix(1).map(\.shortened))
            .joined(separator: ", ")
    }

    /// A name as YAML writes it in a list. Anything but a plain word is quoted, because an owner may paste the line.
    static func quoted(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: ":"), 0x80...:
                true
            default: false
            }
        }
        return isPlain && !name.isEmpty && name.utf8.last != UInt8(ascii: ":") ? name : JSONValue.string(name).text
    }
}
