internal import Configuration
internal import Glibc
internal import JSON
internal import Linux
internal import ProcedureSets

/// Replaces the previous set by a fetched one, completely or not at all: it is checked again, copied, and parsed by a
/// process of its own. Slow, so it runs on a thread.
struct SetTaker: Sendable {
    let settings: ProcedureSettings
    /// The folder of the program that fetches, which this user can only read.
    let staging: String
    /// The folder from which procedures run.
    let store: SetStore
    /// The program that parses, and its flags.
    let command: [String]
    let environment: [String: String]

    /// The result.
    struct State: Sendable {
        var installed: SetRecord?
        /// The set that was last refused, and why. It is not checked again.
        var refused: (identity: String, reason: String)?
        /// Why there is no set to check although there should be one.
        var problem: String?
        var report: SyncReport?
    }

    func take(after state: State) -> State {
        var state = state
        state.report = SyncReport(in: staging)
        state.problem = nil
        do throws(SetRefusal) {
            state.installed = try store.current()?.record
            guard settings.sync != nil, let staged = try stagedSet() else { return state }
            let identity = staged.record.identity
            if identity == state.installed?.identity { state.refused = nil }
            guard identity != state.installed?.identity, identity != state.refused?.identity else { return state }
            state.refused = nil
            do throws(SetRefusal) {
                try install(staged, after: state.installed)
                state.installed = staged.record
            } catch  where !error.isPassing {
                state.refused = (identity, error.description)
            }
        } catch {
            state.problem = error.description
        }
        return state
    }

    private func stagedSet() throws(SetRefusal) -> StoredSet? {
        try SetStore(root: staging, link: "staged").current()
    }

    private func install(_ staged: StoredSet, after installed: SetRecord?) throws(SetRefusal) {
        try staged.verify(settings, after: installed)
        let new = try Self.local { () throws(SystemCallError) in try store.begin() }
        var size = SetSize()
        for name in staged.record.files.keys.sorted() {
            let text = try staged.text(of: name)
            try size.add(text)
            try Self.local { () throws(SystemCallError) in try new.add(name, text) }
        }
        if let manifest = try staged.manifest() {
            let signature = staged.signature()
            try Self.local { () throws(SystemCallError) in try new.add(manifest: manifest, signature: signature) }
        }
        try parse(new.folder)
        try Self.local { () throws(SystemCallError) in try store.commit(new, staged.record) }
    }

    private static func local<Value>(_ body: () throws(SystemCallError) -> Value) throws(SetRefusal) -> Value {
        do throws(SystemCallError) {
            return try body()
        } catch {
            throw SetRefusal("it cannot be kept: \(error)", isPassing: true)
        }
    }

    /// Parsing untrusted files from the network runs in a process that ends after it.
    private func parse(_ folder: String) throws(SetRefusal) {
        let ending: RunningProgram.Ending
        do throws(SystemCallError) {
            ending = try RunningProgram().run(command + ["--check-set", folder], environment)
        } catch {
            throw SetRefusal("it cannot be parsed: \(error)", isPassing: true)
        }
        guard ending.status != 0 else { return }
        // By the kernel or the service's limit, for want of memory.
        if ending.status == 128 + SIGKILL { throw SetRefusal("its parser was killed", isPassing: true) }
        let reason = String(ending.errors.prefix(1000)).trimmed
        throw SetRefusal(reason.isEmpty ? "its parser ended with status \(ending.status)" : reason)
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

extension SetTaker.State {
    /// In the form of `procedures`: `{folder, last: {outcome, says, server, time}, version, files, refused, problem}`.
    func json(folder: String) -> JSONValue {
        JSONValue(present: [
            "folder": .string(folder), "last": report.map { .object($0.json) },
            "version": installed?.version.map(JSONValue.integer),
            "files": installed.map { .integer(Int64($0.files.count)) }, "refused": refused.map { .string($0.reason) },
            "problem": problem.map(JSONValue.string),
        ])
    }
}
