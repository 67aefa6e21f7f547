import JSON
import QuickConnect

/// The description of a backup: `{"format": 1, "version": "…", "parts": ["configuration", …]}`, the first file of the
/// archive.
struct BackupManifest {
    static let name = "manifest.json"
    /// The format of the archive. It changes when an older program could not read it.
    static let format: Int64 = 1

    /// Of the program that made it.
    var version: String
    var parts: [String]

    init(parts: [String]) {
        version = ProjectVersion.text
        self.parts = parts
    }

    /// - Throws: why a backup with this manifest cannot be restored here.
    init(reading text: String) throws(Refusal) {
        guard let object = (try? JSONParser.parse(text))?.objectValue, let format = object["format"]?.integerValue,
            let version = object["version"]?.stringValue, let parts = object["parts"]?.arrayValue
        else { throw Refusal("its \(Self.name) is not that of a backup") }
        let names = parts.compactMap(\.stringValue)
        guard names.count == parts.count else { throw Refusal("its \(Self.name) names parts that are not strings") }
        guard let numbers = Self.numbers(version), let own = Self.numbers(ProjectVersion.text) else {
            throw Refusal("its \(Self.name) has the version '\(version.shortened)', which is not a version")
        }
        guard format <= Self.format, !own.lexicographicallyPrecedes(numbers) else {
            throw Refusal(
                "it was made by version \(version.shortened), and this is \(ProjectVersion.text): upgrade, then restore it"
            )
        }
        (self.version, self.parts) = (version, names)
    }

    var text: String {
        let object: JSONObject = [
            "format": .integer(Self.format), "version": .string(version), "parts": .array(parts.map(JSONValue.string)),
        ]
        return JSONValue.object(object).text + "\n"
    }

    /// `0.1.0` as `[0, 1, 0]`.
    private static func numbers(_ version: String) -> [Int]? {
        let parts = version.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }
        return parts.count == 3 && numbers.count == 3 && numbers.allSatisfy { $0 >= 0 } ? numbers : nil
    }

    /// Why a file is not a backup that can be restored.
    struct Refusal: Error {
        var reason: String

        init(_ reason: String) { self.reason = reason }
    }
}
