import JSON
import QuickConnect

/// The sections `procedures`, `record` and `data`.
extension YAMLFile {
    static let procedureKeys = ["parallel", "time", "memoryBytes", "sqlTime", "sqlRows", "sync", "names", "key"]
    static let dataKeys = ["maximumBytes", "keep"]
    static let recordKeys = ["event", "keep"]

    mutating func readProcedures(_ node: YAMLNode, into settings: inout ProcedureSettings) {
        for (_, name, value) in members(node, of: "'procedures'", known: Self.procedureKeys) where !value.isNull {
            let what = "'\(name)'"
            switch name {
            case "parallel": settings.parallel = integer(value, what, in: 1...64) ?? settings.parallel
            case "time": settings.seconds = duration(value, what)?.seconds ?? settings.seconds
            // The engine alone needs some 40 MiB.
            case "memoryBytes":
                settings.memoryBytes = integer(value, what, in: (64 << 20)...(1 << 40)) ?? settings.memoryBytes
            case "sqlTime": settings.sqlSeconds = duration(value, what)?.seconds ?? settings.sqlSeconds
            case "sync": settings.sync = server(value)
            case "names": settings.names = fileNames(value)
            case "key": settings.key = signingKey(value)
            default: settings.sqlRows = integer(value, what, in: 1...1_000_000) ?? settings.sqlRows
            }
        }
        if settings.sync?.hasPrefix("http:") == true, settings.key == nil, !settings.isSyncLocal {
            mistake("'sync' must be an https: address, unless a 'key' proves what comes", at: node)
        }
    }

    private mutating func server(_ node: YAMLNode) -> String? {
        guard var address = string(node, "'sync'") else { return nil }
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

    private mutating func fileNames(_ node: YAMLNode) -> [String] {
        let words = words(node, "'names'")
        for word in words where !ProcedureName.isFile(word.value) {
            mistake("'\(word.value)' is not a procedure's file, such as report.js or lib/dates.js", at: word.location)
        }
        if words.count > ProcedureSettings.fileCount {
            mistake("'names' has more than \(ProcedureSettings.fileCount) files", at: node)
        }
        return words.map(\.value)
    }

    private mutating func signingKey(_ node: YAMLNode) -> String? {
        guard let text = string(node, "'key'") else { return nil }
        guard Base64.decode(text)?.count == 32 else {
            mistake("'key' must be the 32 bytes of a public Ed25519 key, in Base64", got: node)
            return nil
        }
        return text
    }

    mutating func readData(_ node: YAMLNode, into settings: inout ProcedureSettings) {
        for (_, name, value) in members(node, of: "'data'", known: Self.dataKeys) where !value.isNull {
            switch name {
            case "maximumBytes":
                settings.dataBytes = integer(value, "'maximumBytes'", in: (1 << 20)...(1 << 50)) ?? settings.dataBytes
            default: settings.dataKeepSeconds = duration(value, "'keep'")?.seconds
            }
        }
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
        var recorded = ProcedureSettings.Recorded(event: "")
        for (_, name, value) in members(node, of: "'record'", known: Self.recordKeys) where !value.isNull {
            switch name {
            case "event": recorded.event = string(value, "'event'") ?? ""
            default: recorded.keepSeconds = duration(value, "'keep'")?.seconds
            }
        }
        guard !recorded.event.isEmpty, recorded.event.utf8.count <= 200 else {
            mistake("what is recorded needs an 'event', the name of one", at: node)
            return nil
        }
        return recorded
    }
}
