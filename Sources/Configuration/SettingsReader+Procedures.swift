import JSON
import QuickConnect

extension SettingsReader {
    static var procedureKeys: [FileKey<ProcedureSettings>] {
        [
            FileKey("parallel", \.parallel) { $0.integer($1, $2, in: 1...64) },
            FileKey("time", \.seconds) { $0.seconds($1, $2) },
            // The engine alone needs some 40 MiB.
            FileKey("memoryBytes", \.memoryBytes) { $0.integer($1, $2, in: (64 << 20)...(1 << 40)) },
            FileKey("sqlTime", \.sqlSeconds) { $0.seconds($1, $2) },
            FileKey("sqlRows", \.sqlRows) { $0.integer($1, $2, in: 1...1_000_000) },
            FileKey("sync", \.sync) { $0.server($1, $2) },
            FileKey("names", \.names) { $0.fileNames($1, $2) },
            FileKey("key", \.key) { $0.signingKey($1, $2) },
        ]
    }

    static var dataKeys: [FileKey<ProcedureSettings>] {
        [
            FileKey("maximumBytes", \.dataBytes) { $0.integer($1, $2, in: (1 << 20)...(1 << 50)) },
            FileKey("keep", \.dataKeepSeconds) { $0.seconds($1, $2) },
        ]
    }

    static var recordKeys: [FileKey<ProcedureSettings.Recorded>] {
        [
            FileKey("event", \.event) { $0.string($1, $2) },
            FileKey("keep", \.keepSeconds) { $0.seconds($1, $2) },
        ]
    }
}

/// The sections `procedures`, `record` and `data`.
extension YAMLFile {
    mutating func readProcedures(_ node: YAMLNode, into settings: inout ProcedureSettings) {
        _ = read(node, of: "'procedures'", SettingsReader.procedureKeys, into: &settings, skippingNull: true)
        if settings.sync?.hasPrefix("http:") == true, settings.key == nil, !settings.isSyncLocal {
            mistake("'sync' must be an https: address, unless a 'key' proves what comes", at: node)
        }
    }

    fileprivate mutating func server(_ node: YAMLNode, _ what: String) -> String? {
        guard var address = string(node, what) else { return nil }
        while address.hasSuffix("/") { address.removeLast() }
        let rest = ["https://", "http://"].first { address.hasPrefix($0) }.map { address.dropFirst($0.count) } ?? ""
        let isPlain =
            address.utf8.allSatisfy { (0x21...0x7E).contains($0) } && !address.contains { "?#@\\".contains($0) }
        guard isPlain, !rest.isEmpty, !rest.hasPrefix("/"), address.utf8.count <= 1000 else {
            // The message does not show the text, because it may contain a password.
            mistake("'sync' must be a server's address, such as https://reports.example.org", at: node)
            return nil
        }
        return address
    }

    fileprivate mutating func fileNames(_ node: YAMLNode, _ what: String) -> [String] {
        let words = words(node, what)
        for word in words where !ProcedureName.isFile(word.value) {
            mistake("'\(word.value)' is not a procedure's file, such as report.js or lib/dates.js", at: word.location)
        }
        if words.count > ProcedureSettings.fileCount {
            mistake("'names' has more than \(ProcedureSettings.fileCount) files", at: node)
        }
        return words.map(\.value)
    }

    fileprivate mutating func signingKey(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = string(node, what) else { return nil }
        guard Base64.decode(text)?.count == 32 else {
            mistake("'key' must be the 32 bytes of a public Ed25519 key, in Base64", got: node)
            return nil
        }
        return text
    }

    mutating func record(_ node: YAMLNode) -> [ProcedureSettings.Recorded] {
        guard let items = node.sequence else {
            mistake("'record' must be a list of events, such as [{event: location, keep: 90d}]", got: node)
            return []
        }
        var recorded: [ProcedureSettings.Recorded] = []
        for item in items {
            guard let one = recordedEvent(item) else { continue }
            if recorded.contains(where: { $0.event == one.event }) {
                mistake("the event '\(one.event)' is recorded twice", at: item)
            }
            recorded.append(one)
        }
        return recorded
    }

    private mutating func recordedEvent(_ node: YAMLNode) -> ProcedureSettings.Recorded? {
        guard mustBeMapping(node, "what is recorded", suchAs: "{event: location, keep: 90d}") else { return nil }
        var recorded = ProcedureSettings.Recorded(event: "")
        _ = read(node, of: "'record'", SettingsReader.recordKeys, into: &recorded, skippingNull: true)
        guard !recorded.event.isEmpty, recorded.event.utf8.count <= 200 else {
            mistake("what is recorded needs an 'event', the name of one", at: node)
            return nil
        }
        return recorded
    }
}
