/// The parts of an absolute address that rules examine. As in WebKit, scheme and host are in lower case.
package struct PageAddress: Sendable, Hashable {
    /// In lower case, without the colon.
    package var scheme: String
    /// In lower case, with the port if the address has one: `127.0.0.1:8080`. Empty if there is none.
    package var authority: String
    /// From the first slash on, without query and fragment.
    package var path: String
    /// The part after the first `?`, including the fragment; nil if there is no `?`.
    package var query: String?
    /// The whole address, unchanged.
    package var text: String

    /// Nil if there is no scheme.
    package init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = text[..<colon]
        guard let first = scheme.first, first.isASCII, first.isLetter, scheme.allSatisfy(Self.isSchemeCharacter)
        else { return nil }
        self.text = text
        self.scheme = scheme.lowercased()
        var rest = text[text.index(after: colon)...]
        authority = ""
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
            // The part before an @ is a name and a password, not the host.
            let host = rest[..<end].split(separator: "@", omittingEmptySubsequences: false).last ?? ""
            authority = host.lowercased()
            rest = rest[end...]
        }
        let end = rest.firstIndex { $0 == "?" || $0 == "#" } ?? rest.endIndex
        path = String(rest[..<end])
        query = end < rest.endIndex && rest[end] == "?" ? String(rest[rest.index(after: end)...]) : nil
    }

    /// Whether a text may be a scheme: a letter, then letters, digits, `+`, `-` and `.`.
    package static func isScheme(_ text: String) -> Bool {
        guard let first = text.first, first.isASCII, first.isLetter else { return false }
        return text.allSatisfy(isSchemeCharacter)
    }

    private static func isSchemeCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "+-.".contains(character))
    }

    /// The authority without its port.
    package var host: String {
        guard let colon = authority.lastIndex(of: ":"), authority[colon...].dropFirst().allSatisfy(\.isNumber) else {
            return authority
        }
        return String(authority[..<colon])
    }

    /// The origin: `qc://app`, `https://example.org`, `http://127.0.0.1:8080`. Nil for files, and for addresses without
    /// a host.
    package var origin: String? {
        guard !authority.isEmpty, scheme != "file" else { return nil }
        let port = scheme == "https" ? ":443" : scheme == "http" ? ":80" : ""
        let host = !port.isEmpty && authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
        return "\(scheme)://\(host)"
    }
}
