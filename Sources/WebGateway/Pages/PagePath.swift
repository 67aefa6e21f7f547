internal import JSON

/// The path of a request below the folder of pages, decoded once.
struct PagePath: Equatable {
    /// The names in the path; none is empty, `.` or `..`, or begins with a dot.
    var names: [String]
    /// Whether it ends in a slash, and so means a folder.
    var isFolder: Bool

    private static let mostBytes = 1024

    /// Nil if it cannot be the path of a page: a bad escape, a hidden file, a path that leads out.
    init?(_ target: String) {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard path.first == UInt8(ascii: "/"), path.count <= Self.mostBytes else { return nil }
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

    private static func decode(_ part: Substring.UTF8View.SubSequence) -> String? {
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
    var file: String { (names + (isFolder || names.isEmpty ? ["index.html"] : [])).joined(separator: "/") }

    /// The relative address of the root: the gateway does not know under which path a proxy serves it.
    var toRoot: String {
        let depth = names.count - (isFolder || names.isEmpty ? 0 : 1)
        return String(repeating: "../", count: depth)
    }

    private static let publicFiles: Set<String> = ["style.css", "favicon.ico"]

    /// Whether the log-in page needs it, so that it is served without log-in.
    var isPublic: Bool {
        guard let first = names.first else { return false }
        return first == "login" || (names.count == 1 && first.hasPrefix("login.")) || Self.publicFiles.contains(file)
    }
}
