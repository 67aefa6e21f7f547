internal import ProcedureSets

/// In what one set differs from another.
struct SetChanges {
    private let added: [String]
    private let changed: [String]
    private let removed: [String]
    private let count: Int
    private let version: Int64?

    init(from old: SetRecord?, to new: SetRecord) {
        let before = old?.files ?? [:]
        added = new.files.keys.filter { before[$0] == nil }.sorted()
        changed = new.files.filter { before[$0.key].map(\.hash) != nil && before[$0.key]?.hash != $0.value.hash }.map(
            \.key
        )
        .sorted()
        removed = before.keys.filter { new.files[$0] == nil }.sorted()
        count = new.files.count
        version = new.version
    }

    /// A line for each file.
    var lines: [String] {
        added.map { "new      \($0)" } + changed.map { "changed  \($0)" } + removed.map { "removed  \($0)" }
    }

    var sentence: String {
        let version = version.map { ", version \($0)" } ?? ""
        let parts = [(added, "new"), (changed, "changed"), (removed, "removed")].filter { !$0.0.isEmpty }
        let what = parts.isEmpty ? "nothing new" : parts.map { "\($0.0.count) \($0.1)" }.joined(separator: ", ")
        return "\(what); \(count) files\(version)"
    }
}
