internal import Glibc
package import Linux
package import QuickConnect

/// The stored state of actions: which are allowed where, and the scripts that people have saved.
///
/// What root allows applies to everybody, what a user allows applies to that user. Files that others could have written
/// are not trusted.
package struct ActionState: Sendable {
    /// Root's folder, for everybody.
    private let system: String
    /// This user's folder; for root the same one.
    private let own: String

    private static let allowed = "allowed.json"
    private static let scripts = "scripts.json"
    private static let maximumBytes = 32 << 20

    package init(system: String, own: String) {
        self.system = system
        self.own = own
    }

    package init(_ folders: StandardFolders) {
        self.init(system: folders.actionStates.system, own: folders.actionStates.own)
    }

    /// The file of this user's rules, for people to look at or remove.
    package var ownRules: String { "\(own)/\(Self.allowed)" }

    /// What root and this user allow, and the problems of files that are not trusted or not readable, in words. Read
    /// again each time.
    package func rules() -> (all: AllowedActions, problems: [String]) {
        var all = AllowedActions()
        var problems: [String] = []
        for path in Set(["\(system)/\(Self.allowed)", ownRules]).sorted() where FileText.exists(path) {
            switch Self.rules(in: path) {
            case .success(let some): for rule in some.rules { all.add(rule) }
            case .failure(let problem): problems.append("\(path) \(problem.message): the file is ignored")
            }
        }
        return (all, problems)
    }

    private static func rules(in path: String) -> Result<AllowedActions, FileText.Problem> {
        if let problem = FileTrust.problem(of: path) { return .failure(FileText.Problem(message: problem)) }
        return FileText.read(path, maximumBytes: maximumBytes).flatMap { text in
            Result { () throws(FileText.Problem) in try AllowedActions(text) }
        }
    }

    /// Changes what this user allows, while other processes are locked out.
    package func changeRules<Result>(_ change: (inout AllowedActions) -> Result) throws(CommandError) -> Result {
        try locked { () throws(CommandError) in
            var rules = AllowedActions()
            if FileText.exists(ownRules) {
                // A file that somebody wrote by hand is not overwritten.
                rules = try Self.rules(in: ownRules).mapError { problem in
                    CommandError(.unavailable, "\(ownRules) \(problem.message)")
                }.get()
            }
            let before = rules
            let result = change(&rules)
            // Everybody may read what root allows; a user's rules are in a private folder.
            if rules != before { try write(rules.text, ownRules, 0o644) }
            return result
        }
    }

    // MARK: Scripts

    /// The scripts that this user has saved. Empty if they cannot be read.
    package func scripts() -> SavedScripts {
        let path = "\(own)/\(Self.scripts)"
        guard FileTrust.problem(of: path) == nil,
            case .success(let text) = FileText.exact(path, maximumBytes: Self.maximumBytes)
        else { return SavedScripts() }
        return SavedScripts(text) ?? SavedScripts()
    }

    /// Saves a typed script for an action on a site, replacing one with the same name; an empty script is removed.
    /// - Parameter name: empty for what was typed last.
    package func save(_ text: String, as name: String, of action: String, on site: WebOrigin) throws(CommandError) {
        try locked { () throws(CommandError) in
            var scripts = scripts()
            let before = scripts
            if let problem = scripts.save(text, as: name, of: action, on: site) {
                throw CommandError(.invalid, problem)
            }
            if scripts != before { try write(scripts.text, "\(own)/\(Self.scripts)", 0o600) }
        }
    }

    // MARK: Files

    private func locked<Result>(_ body: () throws(CommandError) -> Result) throws(CommandError) -> Result {
        let lock: Int32
        do throws(SystemCallError) {
            try makeFolder()
            lock = try FileLock.take("\(own)/lock")
        } catch {
            throw CommandError(.unavailable, "\(own) cannot be written to: \(error)")
        }
        defer { close(lock) }
        return try body()
    }

    /// Root's folder is readable by everybody.
    private func makeFolder() throws(SystemCallError) {
        guard !FileText.exists(own) else { return }
        try Folders.make(own)
        if own == system { try SystemCallError.check("chmod") { chmod(own, 0o755) } }
    }

    private func write(_ text: String, _ path: String, _ mode: mode_t) throws(CommandError) {
        do throws(SystemCallError) {
            try FileText.replace(path, with: text, mode: mode)
        } catch {
            throw CommandError(.unavailable, "\(path) cannot be written: \(error)")
        }
    }
}
