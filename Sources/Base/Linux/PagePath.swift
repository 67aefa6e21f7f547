internal import JSON

/// The path of a request below a folder of pages, decoded once.
package struct PagePath: Equatable {
    /// The names in the path; none is empty, `.` or `..`, or begins with a dot.
    package var names: [String]
    /// Whether it ends in a slash, and so means a folder.
    package var isFolder: Bool

    private static let maxBytes = 1024

    /// Nil if it cannot be the path of a page: a bad escape, a hidden file, a path that leads out.
    package init?(_ target: String) {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard path.first == UInt8(ascii: "/"), path.count <= Self.maxBytes else { return nil }
        names = []
        let parts = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if part.isEmpty, index == parts.count - 1 { break }
            guard let name = Self.decode(part), Self.isName(name) else { return nil }
            names.append(name)
        }
        isFolder = path.last == UInt8(ascii: "/")
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".")
            && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
    }

    /// A text with `%` escapes; nil if one is bad, or it is not UTF-8.
    package static func decode(_ part: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = part
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimalDigit),
                let low = rest.popFirst().flatMap(hexadecimalDigit)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The path of the file in its folder.
    package var file: String { (names + (isFolder || names.isEmpty ? ["index.html"] : [])).joined(separator: "/") }
}
