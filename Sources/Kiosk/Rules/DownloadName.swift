/// Names of downloads.
package enum DownloadName {
    /// What a part of a name in the media folder may have, with room for the suffix of a file that is not complete.
    private static let maxBytes = 200
    private static let maxEnding = 20

    /// A name that the media folder accepts. A name without an extension would become a sound file there.
    /// - Parameter suggestion: what the server calls it, or its address.
    package static func of(_ suggestion: String) -> String {
        let base = suggestion.split(separator: "/").last ?? ""
        let printable = base.unicodeScalars.filter { $0.properties.generalCategory != .control }
        let whole = String(String.UnicodeScalarView(printable.drop { $0 == "." }))
        let name = whole.isEmpty ? "download" : whole
        guard let dot = name.unicodeScalars.lastIndex(of: "."), name[dot...].utf8.count <= maxEnding else {
            return short(name, to: maxBytes) + ".bin"
        }
        let ending = String(name[dot...])
        return short(String(name[..<dot]), to: maxBytes - ending.utf8.count) + ending
    }

    /// As many whole characters as fit.
    private static func short(_ text: String, to bytes: Int) -> String {
        var (short, count) = ("", 0)
        for scalar in text.unicodeScalars {
            count += scalar.utf8.count
            guard count <= bytes else { break }
            short.unicodeScalars.append(scalar)
        }
        return short
    }
}
