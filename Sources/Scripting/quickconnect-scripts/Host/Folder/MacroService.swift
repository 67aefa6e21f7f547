internal import Concurrency
internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect
internal import QuickConnectClient
internal import SyntaxChecking

/// The macros for the script host's loop: the command's part that concerns files, and what the macros' process is given.
/// Nothing here blocks.
final class MacroService {
    typealias Answer = (call: HandlerCall, result: Result<HandlerCall.Answer, HandlerCall.Failure>)

    /// The handler for this.
    static let handler = "macroFiles"

    /// What a verdict is for.
    private enum Ticket {
        case feed(MacroListing.Entry)
        case check(HandlerCall)
        case save(HandlerCall, text: String)
    }

    private let folders: MacroFolders
    private let keeper: MacroKeeper
    private let watched: [ScriptFolder]
    private let checks: CheckQueue<Ticket>
    private let feed = MacroFeed()
    private var listing: MacroListing?
    /// Whether the folders have changed since the last look was ordered.
    private var hasChanged = false
    /// How many looks were ordered whose listings have not come.
    private var looks = 0
    private let answers: AnswerQueue
    /// Saved macros, whose callers are told when the process has the new text.
    private var saved: [(name: String, answer: Answer)] = []
    private weak var process: ScriptProcess?

    /// - Parameters:
    ///   - answers: gets the answers.
    ///   - waker: woken when there is something for ``advance(_:)``, or an answer.
    init(
        _ folders: MacroFolders,
        _ checker: SyntaxChecker,
        _ answers: AnswerQueue,
        _ waker: Waker,
        log: @escaping @Sendable (String, String) -> Void
    ) {
        self.folders = folders
        self.answers = answers
        // A missing folder cannot be watched and would have to be polled.
        try? Folders.make(folders.saved)
        watched = MacroFolders.Place.allCases.map { ScriptFolder(path: folders.path(of: $0)) }
        checks = checker.queue()
        keeper = MacroKeeper(folders, answers, waker, log: log)
    }

    // MARK: The folders

    /// Readable when something has changed.
    var descriptors: [Int32] { watched.map(\.descriptor) }

    func drain() {
        if watched.contains(where: \.hasChanges) { hasChanged = true }
        for folder in watched { folder.drain() }
    }

    /// Finds macros that were changed by hand. Returns whether all folders exist and are watched.
    func look() -> Bool {
        var isWatching = true
        for folder in watched where !folder.watch(alsoFoldersOf: []) { isWatching = false }
        hasChanged = false
        looks += 1
        _ = keeper.submit(.look)
        return isWatching
    }

    /// A line of a macro's file; nil if the file is not a macro's.
    func source(_ path: String, line: Int) -> String? { folders.source(path, line: line) }

    // MARK: The command

    /// Takes a call; its answer comes later.
    func take(_ call: HandlerCall) {
        let values = call.data.arrayValue ?? [call.data]
        switch values.first?.stringValue {
        case "list": list(call)
        case "show", "history", "revert": submit(call)
        case "check", "save": check(call, values)
        default: refuse(call, MacroLibrary.unknownVerb(values.first))
        }
    }

    private func list(_ call: HandlerCall) {
        let isNew = !hasChanged && looks == 0 && !watched.contains(where: \.hasChanges)
        guard let listing else { return submit(call, .list(call)) }
        // Whoever asks too often for a new one gets the one before.
        if isNew || !keeper.submit(.list(call), by: call.callerName) { answer(call, listing) }
    }

    private func answer(_ call: HandlerCall, _ listing: MacroListing) {
        answers.append(.success(HandlerCall.Answer(listing.json(Self.mistakes(call)))), to: call)
    }

    /// The macro process's syntax errors.
    private static func mistakes(_ call: HandlerCall) -> JSONObject { call.results.first?.objectValue ?? [:] }

    private func submit(_ call: HandlerCall, _ job: MacroKeeper.Job? = nil) {
        guard !keeper.submit(job ?? .answer(call), by: call.callerName) else { return }
        let sentence = "\(MacroKeeper.maxWaiting) of this caller's calls for macros' files wait already"
        refuse(call, HandlerCall.Failure(.overloaded, sentence))
    }

    private func check(_ call: HandlerCall, _ values: [JSONValue]) {
        guard Self.mistakes(call)["isNamed"] == true else {
            return refuse(call, HandlerCall.Failure(.invalid, "the name was not checked", field: "/1"))
        }
        guard values.count > 2, let text = values[2].stringValue else {
            return refuse(call, HandlerCall.Failure(.invalid, "the text of a macro is a string", field: "/2"))
        }
        guard text.utf8.count <= MacroFolders.maximumBytes else {
            let sentence = "a macro has at most \(MacroFolders.maximumBytes >> 10) KiB"
            return refuse(call, HandlerCall.Failure(.tooLarge, sentence))
        }
        let isSave = values.first == "save"
        let ticket = isSave ? Ticket.save(call, text: text) : .check(call)
        guard checks.submit(CheckedText(.macro, text), by: call.callerName, ticket) else {
            return refuse(call, HandlerCall.Failure(.overloaded, CheckQueue<Ticket>.overloaded))
        }
    }

    private func refuse(_ call: HandlerCall, _ failure: HandlerCall.Failure) {
        answers.append(.failure(failure), to: call)
    }

    // MARK: In the loop

    /// What to wait for in poll(2), besides ``descriptors``.
    var poll: pollfd { checks.poll }
    var nextMoment: ContinuousClock.Instant? { checks.nextMoment }

    /// Answers have been sent.
    func goOn() { keeper.goOn() }

    /// Does what can be done now.
    /// - Parameter process: the process of the macros; nil while there is none.
    func advance(_ process: ScriptProcess?) {
        if let process { begin(process) }
        checks.advance()
        for (ticket, verdict) in checks.takeVerdicts() { take(ticket, verdict) }
        for news in keeper.takeNews() { take(news) }
        if let process { give(process) }
        answerSaved(process)
    }

    /// The process may act when it has all macros.
    func release(_ process: ScriptProcess) {
        begin(process)
        feed.goOn()
    }

    private func begin(_ process: ScriptProcess) {
        guard process !== self.process else { return }
        self.process = process
        feed.begin()
    }

    private func take(_ ticket: Ticket, _ verdict: CheckVerdict) {
        switch ticket {
        case .feed(let entry): feed.take(entry, verdict: verdict)
        case .check(let call):
            if let failure = verdict.failure(of: call) { return refuse(call, failure) }
            answers.append(.success(HandlerCall.Answer(.null)), to: call)
        case .save(let call, let text):
            if let failure = verdict.failure(of: call) { return refuse(call, failure) }
            feed.note(verdict, on: text, of: call.macroName)
            submit(call)
        }
    }

    private func take(_ news: MacroKeeper.News) {
        switch news {
        case .listing(let listing):
            looks -= 1
            take(listing)
        case .list(let listing, let call):
            take(listing)
            answer(call, listing)
        case .changed(let listing, let call, let result):
            take(listing)
            saved.append((call.macroName, (call, result)))
        case .text(let entry, let text): feed.take(entry, text: text)
        }
    }

    private func take(_ listing: MacroListing) {
        self.listing = listing
        feed.take(listing)
    }

    /// Gives the process what it can take without waiting for it.
    private func give(_ process: ScriptProcess) {
        process.child.flush()
        while process.child.isReady, let step = feed.step() {
            switch step {
            case .read(let entry): _ = keeper.submit(.text(entry))
            case .check(let entry, let text):
                // The host's own texts come one at a time, so there is room for them.
                guard !checks.submit(CheckedText(.macro, text), by: "", .feed(entry)) else { continue }
                feed.take(entry, verdict: .unchecked("too many texts wait"))
            case .send(let change): process.order(.change(change))
            case .goOn: process.order(.goOn)
            }
        }
    }

    private func answerSaved(_ process: ScriptProcess?) {
        guard !saved.isEmpty else { return }
        let isWritten = process?.child.isReady ?? true
        saved.removeAll { name, answer in
            // A process that begins later is given all macros before it may act.
            guard process == nil || feed.has(name) && isWritten else { return false }
            answers.append(answer.result, to: answer.call)
            return true
        }
    }
}

extension HandlerCall {
    /// The macro that the command `macro` is about.
    fileprivate var macroName: String {
        let values = data.arrayValue ?? []
        return values.count > 1 ? values[1].stringValue ?? "" : ""
    }
}

extension CheckVerdict {
    /// The error for whoever sent the text; nil if it is valid.
    fileprivate func failure(of call: HandlerCall) -> HandlerCall.Failure? {
        switch self {
        case .valid: return nil
        case .mistake(var members):
            let message = members["message"]?.stringValue ?? "it is not valid JavaScript"
            var failure = HandlerCall.Failure(.invalid, message, field: "/2")
            members["message"] = nil
            members["macro"] = .string(call.macroName)
            failure.details = members
            return failure
        case .unchecked(let reason):
            return HandlerCall.Failure(.unavailable, "the text cannot be checked: \(reason)", field: "/2")
        }
    }
}
