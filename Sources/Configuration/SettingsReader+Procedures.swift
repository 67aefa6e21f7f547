import QuickConnect

/// The sections `procedures`, `record` and `data`.
extension YAMLFile {
    static let procedureKeys = ["parallel", "time", "memoryBytes", "sqlTime", "sqlRows"]
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
            default: settings.sqlRows = integer(value, what, in: 1...1_000_000) ?? settings.sqlRows
            }
        }
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
            mistake("'record' must be a list of events, such as [{event: location, keep: 90d}]", at: node)
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
