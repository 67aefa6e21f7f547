internal import DequeModule
internal import JSON
internal import Linux
internal import SyntaxChecking

/// What the macros' process has of the macros, and what it gets next: texts that have been checked, one at a time.
///
/// A text that is dear to parse fails alone, in the process that checks it.
final class MacroFeed {
    /// What to do next.
    enum Step {
        /// Read the text of a macro; ``take(_:text:)`` gets it.
        case read(MacroListing.Entry)
        /// Check a text; ``take(_:verdict:)`` gets the verdict.
        case check(MacroListing.Entry, text: String)
        /// Tell the process; ``sent`` is what it has then.
        case send(MacroChange)
        case goOn
    }

    /// The verdict on a text, found again where the process begins anew.
    private struct Known {
        var digest: Int
        var verdict: CheckVerdict
    }

    private var listing = MacroListing()
    private var entries: [ByteName: MacroListing.Entry] = [:]
    private var known: [ByteName: Known] = [:]
    /// What the process has.
    private var delivered: [ByteName: MacroListing.Entry] = [:]
    private var queue: Deque<ByteName> = []
    private var next: [Step] = []
    /// The macro whose text is being read or checked, and that text.
    private var current: (entry: MacroListing.Entry, text: String?)?
    private var isStarted = false
    private var mayGoOn = false
    /// Whether the folders have been looked at.
    private(set) var isReady = false

    /// What has changed in the folders.
    func take(_ new: MacroListing) {
        listing = new
        isReady = true
        entries = Dictionary(new.entries.map { ($0.key, $0) }) { first, _ in first }
        known = known.filter { entries[$0.key] != nil }
        fill()
    }

    /// A text that is about to be saved has this verdict.
    func note(_ verdict: CheckVerdict, on text: String, of name: String) {
        known[ByteName(name)] = Known(digest: text.hashValue, verdict: verdict)
    }

    /// A process begins, and has nothing.
    func begin() {
        // A text that is being read or checked is for this one, too.
        next.removeAll { if case .check = $0 { false } else { true } }
        (delivered, isStarted, mayGoOn) = ([:], true, false)
        fill()
    }

    /// The process may act as soon as it has all macros.
    func goOn() { mayGoOn = true }

    private func fill() {
        guard isStarted else { return }
        queue = Deque(listing.entries.lazy.filter { !$0.isSame(self.delivered[$0.key]) }.map(\.key))
        for name in delivered.keys.filter({ entries[$0] == nil }).sorted(by: { $0.text < $1.text }) {
            delivered[name] = nil
            next.append(.send(.removed(name: name.text)))
        }
    }

    /// Whether the process has the newest text of a macro, or is told why it has not.
    func has(_ name: String) -> Bool {
        guard let entry = entries[ByteName(name)] else { return true }
        return !isStarted || entry.isSame(delivered[entry.key])
    }

    /// What is to be done now; nil while something is awaited, or nothing is left.
    func step() -> Step? {
        if !next.isEmpty { return next.removeFirst() }
        guard isStarted, isReady, current == nil else { return nil }
        while let name = queue.popFirst() {
            guard let entry = entries[name], !entry.isSame(delivered[name]) else { continue }
            current = (entry, nil)
            return .read(entry)
        }
        guard mayGoOn else { return nil }
        mayGoOn = false
        return .goOn
    }

    /// The text of a macro, as it is now. If it cannot be read, the process keeps the one before, and is told why.
    /// - Parameter read: nil: the file has gone since the folder was looked at.
    func take(_ entry: MacroListing.Entry, text read: Result<String, FileText.Problem>?) {
        guard isWanted(entry) else { return }
        let text: String
        switch read {
        case .success(let found): text = found
        case nil:
            (current, delivered[entry.key]) = (nil, nil)
            return next.append(.send(.removed(name: entry.name)))
        case .failure(let problem):
            let mistake: JSONObject = ["message": .string("the file \(problem.message)")]
            next.append(.send(.mistake(mistake, name: entry.name, path: entry.path)))
            return done(entry)
        }
        if let known = known[entry.key], known.digest == text.hashValue {
            return deliver(entry, text, known.verdict)
        }
        current = (entry, text)
        next.append(.check(entry, text: text))
    }

    func take(_ entry: MacroListing.Entry, verdict: CheckVerdict) {
        guard isWanted(entry), let text = current?.text else { return }
        known[entry.key] = Known(digest: text.hashValue, verdict: verdict)
        deliver(entry, text, verdict)
    }

    /// Whether a macro is awaited, and still there as it was. If it is not, it is awaited no more.
    private func isWanted(_ entry: MacroListing.Entry) -> Bool {
        guard let current, current.entry.key == entry.key, current.entry.isSame(entry) else { return false }
        guard entry.isSame(entries[entry.key]) else {
            // The queue has the newer one, and the process is told if there is none.
            self.current = nil
            return false
        }
        return true
    }

    private func deliver(_ entry: MacroListing.Entry, _ text: String, _ verdict: CheckVerdict) {
        let (name, path) = (entry.name, entry.path)
        switch verdict {
        case .valid(let bytes): next.append(.send(.text(text, name: name, path: path, functionBytes: bytes)))
        case .mistake(let mistake): next.append(.send(.mistake(mistake, name: name, path: path)))
        case .unchecked(let reason):
            // Checked again when the process begins anew, or the file changes.
            known[entry.key] = nil
            let mistake: JSONObject = ["message": .string("the text cannot be checked: \(reason)")]
            next.append(.send(.mistake(mistake, name: name, path: path)))
        }
        done(entry)
    }

    private func done(_ entry: MacroListing.Entry) {
        current = nil
        if isStarted { delivered[entry.key] = entry }
    }
}
