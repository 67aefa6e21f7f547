internal import Configuration
internal import Digests
package import JSON

/// What is known of a set of files that came together: the file `set.json` beside them.
package struct SetRecord: Sendable, Equatable {
    /// One of its files, and the marks by which the server recognizes this text.
    package struct File: Sendable, Equatable {
        package var hash: String
        package var mark: Mark

        package init(hash: String, mark: Mark = Mark()) {
            (self.hash, self.mark) = (hash, mark)
        }
    }

    /// What a server sends with a text, to ask later whether it is still current.
    package struct Mark: Sendable, Equatable {
        package var tag: String?
        package var modified: String?

        package init(tag: String? = nil, modified: String? = nil) {
            (self.tag, self.modified) = (tag, modified)
        }
    }

    /// Where it is from.
    package var server: String
    /// The manifest's; nil if there is none.
    package var version: Int64?
    /// The key that its manifest was signed with.
    package var key: String?
    /// Of the manifest.
    package var mark = Mark()
    package var files: [String: File] = [:]

    package init(server: String) { self.server = server }

    /// The same for sets with the same files of the same version, whatever else is known of them.
    package var identity: String {
        let lines = files.map { "\($0.key) \($0.value.hash)" }.sorted()
        return SHA256.text(of: ([server, version.map { "\($0)" } ?? "", key ?? ""] + lines).joined(separator: "\n"))
    }

    /// Refuses a set that is older than one signed with the same key.
    package func refuseOlder(_ version: Int64?, key: String?) throws(SetRefusal) {
        guard let key, key == self.key, let own = self.version, (version ?? -1) < own else { return }
        throw SetRefusal("version \(version ?? 0) is older than the installed \(own): a signed set never goes back")
    }

    package var json: JSONValue {
        let files = files.sorted { $0.key < $1.key }.map { name, file -> (String, JSONValue) in
            (name, ["sha256": .string(file.hash), "mark": file.mark.json])
        }
        return JSONValue(present: [
            "server": .string(server), "mark": mark.json, "version": version.map(JSONValue.integer),
            "key": key.map(JSONValue.string), "files": .object(JSONObject(files)),
        ])
    }

    package init(_ text: String) throws(SetRefusal) {
        guard let object = (try? JSONParser.parse(text, maximumDepth: 8))?.objectValue,
            let server = object["server"]?.stringValue, let files = object["files"]?.objectValue,
            files.count <= ProcedureSettings.fileCount
        else { throw SetRefusal("set.json cannot be read") }
        self.server = server
        version = object["version"]?.integerValue
        key = object["key"]?.stringValue
        mark = Mark(object["mark"])
        for (name, file) in files {
            guard ProcedureName.isFile(name), let hash = file.objectValue?["sha256"]?.stringValue, Manifest.isHash(hash)
            else { throw SetRefusal("set.json has an invalid entry for a file") }
            self.files[name] = File(hash: hash, mark: Mark(file.objectValue?["mark"]))
        }
    }
}

extension SetRecord.File {
    package init(_ text: String, _ mark: SetRecord.Mark) {
        self.init(hash: SHA256.text(of: text), mark: mark)
    }
}

extension SetRecord.Mark {
    fileprivate var json: JSONValue {
        JSONValue(present: ["tag": tag.map(JSONValue.string), "modified": modified.map(JSONValue.string)])
    }

    fileprivate init(_ json: JSONValue?) {
        self.init(tag: json?.objectValue?["tag"]?.stringValue, modified: json?.objectValue?["modified"]?.stringValue)
    }
}
