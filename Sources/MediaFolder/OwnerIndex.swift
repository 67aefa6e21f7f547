internal import JSON
internal import QuickConnect

/// The owners of files, as a value and as the text in which it is stored:
///
///     {"version": 1, "files": {"take.caf": "uid 1000"}, "unfinished": {"talk.wav": "web:ann"}}
///
/// A file that is not in it belongs to root.
struct OwnerIndex: Sendable, Equatable {
    /// The owners of files under their names. Root's files are left out.
    private(set) var files: [MediaName: Owner] = [:]
    /// The owners of files that will get these names, known before they have them, so that a crash in between is
    /// harmless.
    private(set) var unfinished: [MediaName: Owner] = [:]

    private static let version: Int64 = 1

    func owner(of name: MediaName) -> Owner { files[name] ?? .root }

    mutating func setOwner(_ owner: Owner, of name: MediaName) { files[name] = owner == .root ? nil : owner }

    mutating func forget(_ name: MediaName) { files[name] = nil }

    /// A file is about to get its name.
    mutating func announce(_ name: MediaName, of owner: Owner) {
        // For root only if the name has another owner; otherwise it is root's anyway.
        unfinished[name] = owner == .root && files[name] == nil ? nil : owner
    }

    mutating func takeBack(_ name: MediaName) { unfinished[name] = nil }

    /// It has its name.
    mutating func commit(_ name: MediaName, to owner: Owner) {
        unfinished[name] = nil
        setOwner(owner, of: name)
    }
}

extension OwnerIndex {
    var text: String {
        JSONValue.object([
            "version": .integer(Self.version), "files": Self.json(files), "unfinished": Self.json(unfinished),
        ]).text + "\n"
    }

    private static func json(_ owners: [MediaName: Owner]) -> JSONValue {
        let sorted = owners.sorted { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }
        return .object(JSONObject(sorted.map { ($0.key.text, .string($0.value.text)) }))
    }

    /// Parses what ``text`` writes; nil if it is anything else.
    init?(text: String) {
        guard let root = (try? JSONParser.parse(text))?.objectValue, root["version"] == .integer(Self.version),
            let files = Self.owners(root["files"]), let unfinished = Self.owners(root["unfinished"])
        else { return nil }
        (self.files, self.unfinished) = (files, unfinished)
    }

    private static func owners(_ json: JSONValue?) -> [MediaName: Owner]? {
        guard let object = json?.objectValue else { return nil }
        var owners: [MediaName: Owner] = [:]
        for (text, value) in object {
            guard let name = MediaName(validating: text), name.text.utf8.elementsEqual(text.utf8),
                let owner = value.stringValue.flatMap(Owner.init(text:))
            else { return nil }
            owners[name] = owner
        }
        return owners
    }
}
