internal import JSON
package import QuickConnect

/// The name that a caller gives to a file of the media folder: `take.caf`, or `trip/day 1.wav` in a subfolder.
///
/// Every file has exactly one such name, so names can be compared. The kernel resolves the name when ``MediaFolder``
/// opens it.
package struct MediaName: Sendable, Hashable {
    package let text: String

    /// The most bytes of a whole name.
    static let longest = 1024
    /// The most bytes of one part, so that an unfinished file's name still fits a directory (255).
    static let maxPart = 240

    /// The error text for a name that does not fit.
    package static let expectation = """
        file, a name below the media folder: no '..', no part that is empty or begins with a dot, no control \
        characters, at most \(maxPart) bytes a part and \(longest) in all
        """

    /// - Parameters:
    ///   - text: as a caller wrote it. Without an extension it gets `.caf`, as in the book.
    ///   - field: the JSON pointer that `invalid` names.
    package init(_ text: String, field: String = "/0") throws(CommandError) {
        guard let name = Self(validating: text) else {
            throw .invalid(field, expected: Self.expectation, got: JSONValue.string(text).gist)
        }
        self = name
    }

    /// The same for names found in the folder itself; nil if the name does not fit.
    init?(validating text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard let last = parts.last, text.utf8.count <= Self.longest else { return nil }
        guard parts.allSatisfy(Self.isProper), !text.unicodeScalars.contains(where: Self.isControl) else { return nil }
        self.text = last.contains(UInt8(ascii: ".")) ? text : text + ".caf"
    }

    private static func isProper(_ part: String.UTF8View.SubSequence) -> Bool {
        !part.isEmpty && part.first != UInt8(ascii: ".") && part.count <= maxPart
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control
    }

    /// The extension, in lower case.
    package var ending: String {
        text.utf8.split(separator: UInt8(ascii: ".")).last.map { Substring($0).lowercased() } ?? ""
    }

    /// The folder within the media folder; `.` for the media folder itself.
    var folder: String { text.lastSlash.map { String(text[..<$0]) } ?? "." }

    /// The name in that folder.
    var base: String { text.lastSlash.map { String(text[text.utf8.index(after: $0)...]) } ?? text }
}

// Names are compared by their bytes, as on the disk. Swift compares strings by canonical equivalence.
extension MediaName {
    package static func == (one: MediaName, other: MediaName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// The last slash of a path, even if a combining accent follows it, which would form one Character with it.
    var lastSlash: String.Index? { utf8.lastIndex(of: UInt8(ascii: "/")) }
}

extension MediaName: CustomStringConvertible {
    package var description: String { text }
}
