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
            JSONValue(present: [
                "version": .integer(Int64(number)), "time": .string(time), "caller": caller.map(JSONValue.object),
                "reverted": reverted.map { .integer(Int64($0)) }, "text": .string(text),
            ])
        }

        init(_ number: Int, _ text: String, by caller: JSONObject?, reverting reverted: Int? = nil) {
            self.number = number
            self.text = text
            self.caller = caller
            self.reverted = reverted
            time = ISOTime.now()
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
    }

    let folder: String

    /// The numbers of a macro's stored versions, ascending.
    func numbers(of name: String) -> [Int] {
        (FileText.names(in: "\(folder)/\(name)") ?? []).compactMap { entry in
            entry.hasSuffix(".json") ? Int(entry.dropLast(5)) : nil
        }.sorted()
    }

    /// The newest one; nil if there is none.
    func newest(of name: String) throws(PlainError) -> Version? {
        guard let number = numbers(of: name).last else { return nil }
        return try read(number, of: name)
    }

    /// A version; nil if there is no file of it.
    /// - Throws: if it cannot be read, or is not what was stored.
    func read(_ number: Int, of name: String) throws(PlainError) -> Version? {
        let path = path(name, number)
        guard access(path, F_OK) == 0 else { return nil }
        let read = FileText.exact(path, maximumBytes: 8 * MacroFolders.maximumBytes)
        let text = try read.mapError { PlainError("version \(number) of '\(name)': \(path) \($0.message)") }.get()
        guard let version = (try? JSONParser.parse(text)).flatMap(Version.init), version.number == number else {
            throw PlainError("version \(number) of '\(name)' is damaged: \(path) is not what was stored")
        }
        return version
    }

    /// What is wrong with the folder of a macro's versions, one sentence each: files that are empty, and no versions, and
    /// a newest version that cannot be used. Older ones are read when somebody asks for them.
    func damage(of name: String) -> [String] {
        guard let entries = FileText.names(in: "\(folder)/\(name)") else {
            let code = errno
            return code == ENOENT ? [] : ["the versions of '\(name)': \(folder)/\(name): \(SystemCallError.text(code))"]
        }
        var problems: [String] = []
        for entry in entries where entry.hasSuffix(".json") {
            var status = stat()
            let path = "\(folder)/\(name)/\(entry)"
            if Int(entry.dropLast(5)) == nil {
                problems.append("\(path) is no version of '\(name)': its name is not a number")
            } else if stat(path, &status) == 0, status.st_size == 0 {
                problems.append("version \(entry.dropLast(5)) of '\(name)' is damaged: \(path) is empty")
            }
        }
        do throws(PlainError) {
            _ = try newest(of: name)
        } catch  where !problems.contains(where: { $0.contains("/\(numbers(of: name).last ?? 0).json ") }) {
            problems.append(error.description)
        } catch {}
        return problems
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
