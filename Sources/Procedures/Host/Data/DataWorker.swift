internal import Calendar
internal import Configuration
internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect
internal import QuickConnectClient

/// The work of a data thread: its file, opened when first needed, and again after a failure.
struct DataWorker {
    private let path: String
    private let settings: ProcedureSettings
    private let answers: AnswerQueue
    /// Whether the file is read completely when it is opened.
    private let isChecked: Bool
    private var store: DataStore?
    /// Whether the file has been open, so that it is not a new one.
    private var wasOpen = false
    /// Whether there is more to delete.
    private(set) var hasMore = false
    /// Whether nothing is done any more: what still waits was not promised to anybody.
    private var isOver = false
    private let clock: @Sendable () -> ClockReading
    private var trust: ClockTrust
    /// Why nothing is deleted by age.
    private var doubt: String?
    /// The most bytes of a page of entries.
    private static let pageBytes = 1 << 20
    private static let backups = 5

    /// - Parameter clock: what the clocks show.
    init(
        _ path: String,
        _ settings: ProcedureSettings,
        _ answers: AnswerQueue,
        isChecked: Bool,
        clock: @escaping @Sendable () -> ClockReading = { .now }
    ) {
        self.clock = clock
        trust = ClockTrust(clock())
        self.path = path
        self.settings = settings
        self.answers = answers
        self.isChecked = isChecked
    }

    mutating func done(_ job: DataKeeper.Job) -> [DataKeeper.News] {
        hasMore = false
        guard !isOver else { return [] }
        do throws(StoreError) {
            switch job {
            case .open:
                _ = try open()
                return [.opened]
            case .save(let entries): return [saved(entries)]
            case .trim:
                let before = doubt
                hasMore = try trim()
                return before == doubt ? [.opened] : [.opened, .doubts(doubt)]
            case .answer(let call):
                // Made here, because a page of entries is long.
                answers.append(answer(call).map { HandlerCall.Answer($0) }, to: call)
                return [.answered(ProcedureCaller(call))]
            case .settle: return [.settled]
            case .end:
                (store, isOver) = (nil, true)
                return [.ended]
            }
        } catch {
            return [.failed(error)]
        }
    }

    private mutating func open() throws(StoreError) -> DataStore {
        if let store { return store }
        if let folder = Folders.parent(of: path) { try make(folder) }
        if wasOpen, DataFile.isEmpty(path) ?? true {
            throw StoreError(
                .damaged,
                "\(path) is gone or empty, and with it what was recorded: replace it by a backup, and restart the service"
            )
        }
        let new = try DataStore(path, isChecked: isChecked)
        (store, wasOpen) = (new, true)
        return new
    }

    private func make(_ folder: String) throws(StoreError) {
        do throws(SystemCallError) { try Folders.make(folder) } catch {
            throw StoreError(.unavailable, "\(folder): \(error)")
        }
    }

    private mutating func saved(_ entries: [Entry]) -> DataKeeper.News {
        do throws(StoreError) {
            try open().save(entries)
            return .saved(entries.count)
        } catch {
            // A file that was moved or damaged is opened again.
            if error.kind != .full { store = nil }
            return .notSaved(entries, error)
        }
    }

    // MARK: Limits

    /// Deletes a few of the oldest entries. Returns whether there are more to delete.
    private mutating func trim() throws(StoreError) -> Bool {
        let store = try open()
        if try trimByAge(store) { return true }
        guard try store.usedBytes > settings.dataBytes else {
            try store.shrink()
            return false
        }
        return try store.deleteOldest() > 0
    }

    /// Deletes a few of the entries that are too old, if the clock that says so can be believed.
    private mutating func trimByAge(_ store: DataStore) throws(StoreError) -> Bool {
        let now = clock()
        let jump = trust.doubt(at: now)
        doubt = nil
        func date(before seconds: Double) -> EntryDate? {
            EntryDate(milliseconds: now.wall - Int64(seconds * 1000))
        }
        let longest = (settings.record.map(\.keepSeconds) + [settings.dataKeepSeconds]).compactMap { $0 }.max()
        // What a wrong clock has dated since it is wrong does not speak for it.
        guard let longest, let oldest = date(before: longest), let recent = date(before: min(longest / 2, 86_400))
        else {
            return false
        }
        if let jump {
            let what = jump == 0 ? "the clock has not been set" : "the clock was set by \(Self.days(jump))"
            doubt = "\(what), so nothing is deleted by its age until the clock is set back, or has gone on for a day"
        } else if !trust.hasRested(at: now), try store.isAllOlder(than: oldest, butSince: recent) {
            doubt =
                "by the clock all that was recorded before today would be too old, so nothing is deleted for a day: is the clock right?"
        }
        guard doubt == nil else { return false }
        for one in settings.record {
            guard let seconds = one.keepSeconds, let date = date(before: seconds) else { continue }
            if try store.deleteSome(before: date, kind: one.event) == DataStore.step { return true }
        }
        guard let seconds = settings.dataKeepSeconds, let date = date(before: seconds) else { return false }
        return try store.deleteSome(before: date, exceptKinds: settings.record.map(\.event)) == DataStore.step
    }

    private static func days(_ milliseconds: Int64) -> String {
        let days = Int((Double(milliseconds) / 86_400_000).rounded())
        return "\(abs(days)) days \(days < 0 ? "back" : "forward")"
    }

    // MARK: The command data

    private mutating func answer(_ call: HandlerCall) -> Result<JSONValue, HandlerCall.Failure> {
        let values = call.data.arrayValue ?? [call.data]
        return Result { () throws(StoreError) in
            switch values.first?.stringValue {
            case "info": return .object(try open().information())
            case "backup": return try backUp()
            case "export": return try page(values.dropFirst().first ?? .null)
            case "import": return try take(values.dropFirst().first ?? .null, call)
            default:
                let got = values.first?.gist ?? "nothing"
                throw StoreError(.invalid, "expected verb, one of info, backup, export, import; got \(got)")
            }
        }.mapError { HandlerCall.Failure($0.code, $0.description) }
    }

    /// Copies the file into the folder `backups` beside it, and keeps the newest copies.
    mutating func backUp() throws(StoreError) -> JSONValue {
        let folder = "\(Folders.parent(of: path) ?? ".")/backups"
        try make(folder)
        let date = EntryDate(milliseconds: clock().wall)?.description ?? "backup"
        let copy = "\(folder)/\(date.filter { $0 != ":" }).db"
        try open().backUp(to: copy)
        // By a clock that was set back, the new copy would be the oldest.
        let old = (FileText.names(in: folder) ?? []).filter {
            $0.hasSuffix(".db") && !$0.hasPrefix(".") && "\(folder)/\($0)" != copy
        }
        for name in old.dropLast(Self.backups - 1) { unlink("\(folder)/\(name)") }
        var status = stat()
        stat(copy, &status)
        return ["path": .string(copy), "bytes": .integer(Int64(status.st_size))]
    }

    /// Some of the entries after an id, in the order of their ids.
    private mutating func page(_ options: JSONValue) throws(StoreError) -> JSONValue {
        let after = options.objectValue?["after"]?.integerValue ?? 0
        let entries = try open().page(after: after, maximumBytes: Self.pageBytes)
        return [
            "entries": .array(entries.map(\.json)), "next": entries.last?.id.map(JSONValue.integer) ?? .null,
        ]
    }

    private mutating func take(_ json: JSONValue, _ call: HandlerCall) throws(StoreError) -> JSONValue {
        guard let items = json.arrayValue, let now = EntryDate.now else {
            throw StoreError(.invalid, "expected an array of entries; got \(json.gist)")
        }
        var entries: [Entry] = []
        for item in items { entries.append(try Entry(item, now: now, source: "import")) }
        let count = try open().importEntries(entries)
        return ["new": .integer(Int64(count)), "there": .integer(Int64(entries.count - count))]
    }
}

extension StoreError {
    /// The code for whoever has asked.
    var code: CommandError.Code {
        switch kind {
        case .invalid: .invalid
        case .tooLarge: .tooLarge
        case .timeout: .timeout
        case .busy, .conflict: .busy
        case .full, .readOnly, .damaged, .newer, .unavailable: .unavailable
        }
    }
}
