package import JSON

/// A cookie that somebody else than a site sets for its pages.
package struct PageCookie: Sendable, Hashable {
    package var name: String
    package var value: String
    /// The host, or with a dot in front the domain with all its hosts.
    package var domain: String
    package var path = "/"
    /// In seconds; 0 removes it, nil ends with the window.
    package var maxAge: Int?
    package var isSecure = false
    package var isHTTPOnly = false

    /// A member that does not fit.
    package struct Mistake: Error, Hashable {
        package var member: String
        package var expected: String
    }

    static let members = ["name", "value", "domain", "path", "maxAge", "secure", "httpOnly"]
    private static let separators = "()<>@,;:\\\"/[]?={}"
    /// What browsers keep of one.
    private static let maximumBytes = 4096
    /// Ten years.
    private static let maximumAge: Int64 = 10 * 366 * 86400

    /// - Parameter host: the domain, if the object names none.
    package init(_ object: JSONObject, host: String?) throws(Mistake) {
        for name in object.names where !Self.members.contains(name) {
            let all = Self.members.joined(separator: ", ")
            throw Mistake(member: name, expected: "the members \(all), and no '\(name)'")
        }
        let name = "a name without spaces and \(Self.separators), in ASCII"
        self.name = try Self.text(object, "name", nil, name, Self.isName)
        let value =
            "a text without spaces, control characters and \",;\\, in ASCII, as encodeURIComponent writes any text"
        self.value = try Self.text(object, "value", nil, value, Self.isValue)
        domain = try Self.text(object, "domain", host, "a host, such as shop.example.org", Self.isDomain).lowercased()
        path = try Self.text(object, "path", "/", "a path that begins with /") { $0.hasPrefix("/") && Self.isValue($0) }
        if let age = object["maxAge"], age != .null {
            guard let seconds = age.integerValue, (0...Self.maximumAge).contains(seconds) else {
                let what = "'maxAge', whole seconds, from 0, which removes it, to \(Self.maximumAge)"
                throw Mistake(member: "maxAge", expected: what)
            }
            maxAge = Int(seconds)
        }
        isSecure = try Self.flag(object, "secure")
        isHTTPOnly = try Self.flag(object, "httpOnly")
    }

    private static func text(
        _ object: JSONObject,
        _ member: String,
        _ fallback: String?,
        _ expected: String,
        _ fits: (String) -> Bool
    ) throws(Mistake) -> String {
        let given = object[member] ?? .null
        let text = given == .null ? fallback : given.stringValue
        guard let text, text.utf8.count <= maximumBytes, fits(text) else {
            throw Mistake(member: member, expected: "'\(member)', \(expected)")
        }
        return text
    }

    private static func flag(_ object: JSONObject, _ member: String) throws(Mistake) -> Bool {
        guard let value = object[member], value != .null else { return false }
        guard let flag = value.boolValue else { throw Mistake(member: member, expected: "'\(member)', true or false") }
        return flag
    }

    /// RFC 6265, 4.1.1.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !separators.utf8.contains($0) }
    }

    private static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\",;\\".utf8.contains($0) }
    }

    private static func isDomain(_ text: String) -> Bool {
        let host = text.hasPrefix(".") ? text.dropFirst() : Substring(text)
        return !host.isEmpty
            && host.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
                default: false
                }
            }
    }
}
