internal import Glibc
internal import JSON
internal import Linux
internal import Logging
package import QuickConnect
internal import Synchronization

/// The owners of files, as a value and as the text in which it is stored:
///
///     {"version": 1, "files": {"take.caf": "uid 1000"}, "unfinished": {"talk.wav": "web:ann"},
///      "shared": {"files": ["take.caf"], "unfinished": []}}
///
/// A file that is not in it belongs to root. `shared` is absent if nothing is.
struct OwnerIndex: Sendable, Equatable {
    /// Whose a file is, and whether its owner shares it with all.
    struct Entry: Sendable, Equatable {
        var owner = Owner.root
        var isShared = false

        /// What is not in the index.
        static let none = Entry()
    }

    /// The owners of files under their names. Root's files are left out, unless they are shared.
    private(set) var files: [MediaName: Entry] = [:]
    /// The owners of files that will get these names, known before they have them, so that a crash in between is
    /// harmless.
    private(set) var unfinished: [MediaName: Entry] = [:]

    private static let version: Int64 = 1

    func entry(of name: MediaName) -> Entry { files[name] ?? .none }

    mutating func set(_ entry: Entry, of name: MediaName) { files[name] = entry == .none ? nil : entry }

    mutating func forget(_ name: MediaName) { files[name] = nil }

    /// A file is about to get its name.
    mutating func announce(_ name: MediaName, as entry: Entry) {
        // For root only if the name has another owner; otherwise it is root's anyway.
        unfinished[name] = entry == .none && files[name] == nil ? nil : entry
    }

    mutating func takeBack(_ name: MediaName) { unfinished[name] = nil }

    /// It has its name.
    mutating func commit(_ name: MediaName, as entry: Entry) {
        unfinished[name] = nil
        set(entry, of: name)
    }
}

extension OwnerIndex {
    var text: String {
        var root: JSONObject = [
            "version": .integer(Self.version), "files": Self.json(files), "unfinished": Self.json(unfinished),
        ]
        let shared = (Self.shared(files), Self.shared(unfinished))
        if !shared.0.isEmpty || !shared.1.isEmpty {
            root["shared"] = ["files": .array(shared.0), "unfinished": .array(shared.1)]
        }
        return JSONValue.object(root).text + "\n"
    }

    private typealias Entries = [MediaName: Entry]

    private static func json(_ entries: Entries) -> JSONValue {
        .object(JSONObject(sorted(entries).map { ($0.key.text, .string($0.value.owner.text)) }))
    }

    private static func shared(_ entries: Entries) -> [JSONValue] {
        sorted(entries.filter(\.value.isShared)).map { .string($0.key.text) }
    }

    private static func sorted(_ entries: Entries) -> [(key: MediaName, value: Entry)] {
        entries.sorted { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }
    }

    /// Parses what ``text`` writes; nil if it is anything else.
    init?(text: String) {
        guard let root = (try? JSONParser.parse(text))?.objectValue, root["version"] == .integer(Self.version),
            let files = Self.entries("files", of: root), let unfinished = Self.entries("unfinished", of: root)
        else { return nil }
        (self.files, self.unfinished) = (files, unfinished)
    }

    private static func entries(_ key: String, of root: JSONObject) -> Entries? {
        guard let object = root[key]?.objectValue else { return nil }
        let shared = Set((root["shared"]?.objectValue?[key]?.arrayValue ?? []).compactMap(\.stringValue))
        var entries: Entries = [:]
        for (text, value) in object {
            guard let name = MediaName(validating: text), name.text.utf8.elementsEqual(text.utf8),
                let owner = value.stringValue.flatMap(Owner.init(text:))
            else { return nil }
            entries[name] = Entry(owner: owner, isShared: shared.contains(text))
        }
        return entries
    }
}

// What an earlier process left behind.
extension MediaOwners {
    /// Reads the index, and deletes unfinished uploads. Called once, before the first call.
    ///
    /// An index that cannot be read is logged and renamed. Its files then belong to root, which protects them from
    /// everybody else until somebody repairs it.
    package func load() {
        changes.withLock { isKept in
            deleteUploads()
            isKept = read()
            change(isKept) { settleAnnounced(&$0) }
        }
        dropGone()
    }

    private func deleteUploads() {
        do throws(CommandError) {
            for upload in try folder.unfinished(.upload) { upload.discard() }
        } catch {
            logger.warning("uploads that were cut off cannot be looked for: \(error.message)")
        }
    }

    /// - Returns: whether the index may be written.
    private func read() -> Bool {
        guard let path, FileText.exists(path) else { return true }
        let reason: String
        switch FileText.exact(path, maximumBytes: 64 << 20) {
        case .success(let text):
            if let index = OwnerIndex(text: text) {
                state.withLock { $0.index = index }
                return true
            }
            reason = "is not an index of owners"
        case .failure(let problem): reason = problem.message
        }
        let all = "all files of the media folder are root's now"
        do throws(SystemCallError) {
            let other = try FileText.setAside(path)
            logger.error("\(path) \(reason); it is kept as \(other), and \(all)")
            return true
        } catch {
            logger.error("\(path) \(reason), and stays as it is (\(error)); \(all), and new owners are not kept")
            return false
        }
    }

    /// An announced file that is no longer hidden has got its name.
    private func settleAnnounced(_ index: inout OwnerIndex) {
        guard let hidden = try? folder.unfinishedNames(.recording) else { return }
        for (name, entry) in index.unfinished where !hidden.contains(name) {
            if (try? folder.holds(name)) == true { index.commit(name, as: entry) } else { index.takeBack(name) }
        }
    }

    /// Gives a recording that was cut off its name.
    package func recover(_ file: UnfinishedFile) throws(CommandError) {
        _ = try publish(file, as: state.withLock { $0.index.unfinished[file.name] } ?? .none)
    }

    /// Renames an unreadable file to `NAME.damaged`, or where that is taken to `NAME.damaged.2` and so on.
    /// - Returns: that name.
    package func setAside(_ file: UnfinishedFile) throws(CommandError) -> String {
        try changes.withLock { isKept throws(CommandError) in
            let text = try file.publishDamaged()
            change(isKept) { index in
                if let name = MediaName(validating: text) {
                    index.set(index.unfinished[file.name] ?? .none, of: name)
                }
                index.takeBack(file.name)
            }
            return text
        }
    }

    /// Deletes a recording that was cut off before it had any sound.
    package func abandon(_ file: UnfinishedFile) { discard(file) }
}

// The index.
extension MediaOwners {
    /// Changes the index, and writes it if it has changed. The caller must hold the lock `changes`.
    func change(_ isKept: Bool, _ body: (inout OwnerIndex) -> Void) {
        let changed = state.withLock { state -> OwnerIndex? in
            let before = state.index
            body(&state.index)
            return state.index == before ? nil : state.index
        }
        guard isKept, let changed, let path else { return }
        do throws(SystemCallError) { try FileText.replace(path, with: changed.text) } catch {
            logger.warning("\(path) cannot be written, so that new owners are forgotten at the next start: \(error)")
        }
    }
}
