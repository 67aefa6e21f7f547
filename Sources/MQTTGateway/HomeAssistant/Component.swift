import Digests
import JSON

/// One entity of Home Assistant's, as its discovery has it.
struct Component: Sendable, Equatable {
    /// The command or event that it is of: what a mapping entry with `homeAssistant` changes.
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

    /// Of the characters that Home Assistant takes in identifiers. Two texts have two identifiers: what is replaced is told apart by
    /// a hash.
    static func identifier(_ text: String) -> String {
        let plain = String(String.UnicodeScalarView(text.unicodeScalars.map { isAllowed($0) ? $0 : "_" }))
        return plain == text ? plain : "\(plain)-\(mark(text))"
    }

    /// The same with another identifier, for one that somebody else has.
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
