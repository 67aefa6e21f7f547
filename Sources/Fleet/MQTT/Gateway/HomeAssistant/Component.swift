import Digests
import JSON

/// A Home Assistant entity in its discovery form.
struct Component: Sendable, Equatable {
    /// Its command or event: a mapping entry with `homeAssistant` for this name changes it.
    var subject: String
    /// Its name within the device's message.
    var id: String
    var members: JSONObject

    init(_ platform: String, _ subject: String, id: String? = nil, _ name: String, _ members: JSONObject) {
        self.subject = subject
        self.id = Self.identifier(id ?? subject)
        self.members = ["platform": .string(platform), "name": .string(name)]
        self.members.merge(members)
    }

    var platform: String { members["platform"]?.stringValue ?? "" }

    /// Consists of characters that Home Assistant allows in identifiers. Different texts have different identifiers: if
    /// characters are replaced, a hash is added.
    static func identifier(_ text: String) -> String {
        let plain = String(String.UnicodeScalarView(text.unicodeScalars.map { isAllowed($0) ? $0 : "_" }))
        return plain == text ? plain : "\(plain)-\(mark(text))"
    }

    /// The same with another identifier, if its own is taken.
    func apart() -> Component {
        var other = self
        other.id = "\(id)-\(Self.mark("\(platform) \(subject)"))"
        return other
    }

    private static func mark(_ text: String) -> Substring { SHA256.text(of: text).prefix(8) }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII
            && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_" || scalar == "-")
    }
}
