internal import Glibc
internal import JSON
internal import Linux

/// The newest versions of each macro's text, one file each: `NAME/NUMBER.json`.
struct MacroVersions {
    /// The most versions kept; the oldest are removed first.
    static let most = 50

    /// One of them.
    struct Version {
        var number: Int
        /// ISO 8601.
        var time: String
        /// Who saved it; nil: it was found in the folder, changed by hand or by another program.
        var caller: JSONObject?
        /// The older version that it restores, if it does.
        var reverted: Int?
        var text: String

        /// In the form of `history`.
        var json: JSONValue {
            var members: JSONObject = ["version": .integer(Int64(number)), "time": .string(time)]
            members["caller"] = caller.map(JSONValue.object)
            members["reverted"] = reverted.map { .integer(Int64($0)) }
            members["text"] = .string(text)
            return .object(members)
        }

        init(_ number: Int, _ text: String, by caller: JSONObject?, reverting reverted: Int? = nil) {
            self.number = number
            self.text = text
            self.caller = caller
            self.reverted = reverted
            time = Self.now
        }

        init?(_ json: JSONValue) {
            guard let members = json.objectValue, let number = members["version"]?.integerValue,
                let text = members["text"]?.stringValue
            else { return nil }
            self.number = Int(number)
            self.text = text
            time = members["time"]?.stringValue ?? ""
            caller = members["caller"]?.objectValue
            reverted = members["reverted"]?.integerValue.map(Int.init)
        }

        private static var now: String {
            var (seconds, parts) = (Glibc.time(nil), tm())
            gmtime_r(&seconds, &parts)
            var buffer = [CChar](repeating: 0, count: 32)
            let count = strftime(&buffer, buffer.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
            return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    let folder: String

    /// The numbers of a macro's stored versions, ascending.
    func numbers(of name: String) -> [Int] {
        (FileText.names(in: "\(folder)/\(name)") ?? []).compactMap { entry in
            entry.hasSuffix(".json") ? Int(entry.dropLast(5)) : nil
        }.sorted()
    }

    /// The newest one; nil if there is none.
    func newest(of name: String) -> Version? { numbers(of: name).last.flatMap { self[name, $0] } }

    subscript(name: String, number: Int) -> Version? {
        guard case .success(let text) = FileText.read(path(name, number), maximumBytes: 8 * MacroFolders.maximumBytes)
        else { return nil }
        return (try? JSONParser.parse(text)).flatMap(Version.init)
    }

    /// Stores a version, complete and synced to the disk.
    func add(_ version: Version, of name: String) throws(SystemCallError) {
        try Folders.make("\(folder)/\(name)")
        try FileText.replace(path(name, version.number), with: "\(version.json.text)\n")
        for number in numbers(of: name).dropLast(Self.most) { unlink(path(name, number)) }
    }

    /// Removes a version that was not used after all.
    func remove(_ number: Int, of name: String) { unlink(path(name, number)) }

    private func path(_ name: String, _ number: Int) -> String { "\(folder)/\(name)/\(number).json" }
}
