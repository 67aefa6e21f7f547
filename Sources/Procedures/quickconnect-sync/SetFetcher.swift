internal import Configuration
internal import JSON
internal import Linux
internal import ProcedureSets

/// Fetches a set once: all of it, or nothing.
struct SetFetcher {
    let server: String
    let settings: ProcedureSettings
    let client: WebClient
    /// The set that was fetched before.
    let old: StoredSet?

    /// What is there now.
    struct Fetched {
        var record: SetRecord
        var manifest: String?
        var signature: String?
    }

    /// - Parameter keep: given each file, the unchanged ones too.
    func fetch(_ keep: (_ name: String, _ text: String) throws(SystemCallError) -> Void) throws(SetRefusal) -> Fetched {
        var fetched = try manifest()
        let names =
            fetched.record.files.isEmpty && fetched.manifest == nil
            ? settings.names : fetched.record.files.keys.sorted()
        var size = SetSize()
        for name in names {
            let (text, file) = try self.file(name, hash: fetched.record.files[name]?.hash)
            do throws(SetRefusal) {
                try size.add(text)
            } catch {
                throw SetRefusal("\(server): \(error)")
            }
            fetched.record.files[name] = file
            do throws(SystemCallError) {
                try keep(name, text)
            } catch {
                throw SetRefusal("\(name) cannot be written: \(error)")
            }
        }
        return fetched
    }

    // MARK: The manifest

    private func manifest() throws(SetRefusal) -> Fetched {
        var record = SetRecord(server: server)
        guard let (text, mark) = try text("manifest.json", oldManifest) else { return try withoutManifest(record) }
        let manifest = try Manifest(text)
        record.version = manifest.version
        record.mark = mark
        record.files = manifest.files.mapValues { SetRecord.File(hash: $0) }
        let signature = try signature(of: text, &record)
        try old?.record.refuseOlder(record.version, key: record.key)
        return Fetched(record: record, manifest: text, signature: signature)
    }

    private func withoutManifest(_ record: SetRecord) throws(SetRefusal) -> Fetched {
        guard settings.key == nil else {
            throw SetRefusal("the server has no manifest.json, which a key needs")
        }
        guard !settings.names.isEmpty else {
            throw SetRefusal("the server has no manifest.json, and the settings name no files (procedures: names)")
        }
        return Fetched(record: record)
    }

    private func signature(of text: String, _ record: inout SetRecord) throws(SetRefusal) -> String? {
        guard let key = settings.key else { return nil }
        let signature = try client.signature("\(server)/uploads/manifest.json.sig")
        try Manifest.verify(text, signature: signature, key: key)
        record.key = key
        return signature
    }

    // MARK: Files

    /// The manifest that is here already.
    private var oldManifest: (text: String, mark: SetRecord.Mark)? {
        guard let old, old.record.server == server, let text = (try? old.manifest()) ?? nil else { return nil }
        return (text, old.record.mark)
    }

    /// - Parameter hash: what the manifest says; nil if there is none.
    private func file(_ name: String, hash: String?) throws(SetRefusal) -> (String, SetRecord.File) {
        let here = hereAlready(name)
        if let here, let hash, here.file.hash == hash { return here }
        // A mark is invalid if the text has changed.
        guard let (text, mark) = try text(name, hash == nil ? here.map { ($0.text, $0.file.mark) } : nil) else {
            throw SetRefusal("the server has no \(name)", isPassing: hash != nil)
        }
        let file = SetRecord.File(text, mark)
        guard hash == nil || file.hash == hash else {
            throw SetRefusal("\(name) is not what the manifest says: its SHA-256 is \(file.hash)", isPassing: true)
        }
        return (text, file)
    }

    private func hereAlready(_ name: String) -> (text: String, file: SetRecord.File)? {
        guard let old, old.record.server == server, let file = old.record.files[name],
            let text = try? old.text(of: name)
        else { return nil }
        return (text, file)
    }

    /// The newest text of a name, and its mark; nil if the server has none.
    private func text(
        _ name: String,
        _ here: (text: String, mark: SetRecord.Mark)?
    ) throws(SetRefusal) -> (String, SetRecord.Mark)? {
        switch try client.get("\(server)/uploads/\(name)", mark: here?.mark) {
        case .absent: return nil
        case .unchanged:
            guard let here else { throw SetRefusal("\(name): the server answers 304 to a question for any text") }
            return here
        case .text(let bytes, let mark):
            guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
                throw SetRefusal("\(name) is not text")
            }
            return (text, mark)
        }
    }
}

extension WebClient {
    /// The signature in Base64, however it is served; nil if there is none.
    func signature(_ address: String) throws(SetRefusal) -> String? {
        guard case .text(let bytes, _) = try get(address, mark: nil) else { return nil }
        guard bytes.count != 64 else { return Base64.encode(bytes) }
        return String(decoding: bytes.prefix(1000), as: UTF8.self).filter { !$0.isWhitespace }
    }
}
