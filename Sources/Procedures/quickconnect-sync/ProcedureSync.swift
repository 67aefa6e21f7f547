internal import Configuration
internal import Glibc
internal import Linux
internal import ProcedureSets

/// Asks the server, and stages what it has, completely or not at all.
struct ProcedureSync {
    /// The link to the set that was fetched last.
    static let link = "staged"

    private let server: String
    private let settings: ProcedureSettings
    private let client: WebClient
    private let store: SetStore
    /// Given what a dry run would change.
    private let say: (String) -> Void

    /// - Parameter root: the folder of what is fetched; it must be there.
    init(
        server: String,
        _ settings: ProcedureSettings,
        _ client: WebClient,
        root: String,
        say: @escaping (String) -> Void
    ) {
        self.server = server
        self.settings = settings
        self.client = client
        self.say = say
        store = SetStore(root: root, link: Self.link)
    }

    /// Asks once, and again after pauses while another attempt may succeed.
    /// - Parameter retries: how often again.
    func run(retries: Int, isDry: Bool) -> SyncReport {
        var generator = SystemRandomNumberGenerator()
        var backoff = Backoff(first: .seconds(5), max: .seconds(300))
        var attempt = 0
        while true {
            let (report, isPassing) = ask(isDry: isDry)
            attempt += 1
            guard isPassing, attempt <= retries else { return report }
            let pause = backoff.failed(by: &generator) / .seconds(1)
            say("\(report.says); asking again in \(Int(pause.rounded(.up))) s")
            usleep(UInt32(pause * 1e6))
        }
    }

    private func ask(isDry: Bool) -> (SyncReport, isPassing: Bool) {
        do throws(SetRefusal) {
            return (try stage(isDry: isDry), false)
        } catch {
            let outcome: SyncReport.Outcome = error.isUnreachable ? .unreachable : .refused
            return (SyncReport(outcome, error.description, server: server), error.isPassing)
        }
    }

    private func stage(isDry: Bool) throws(SetRefusal) -> SyncReport {
        // A set that cannot be read counts as missing: everything is fetched again.
        let old = (try? store.current()) ?? nil
        let fetcher = SetFetcher(server: server, settings: settings, client: client, old: old)
        let new = isDry ? nil : try Self.local { () throws(SystemCallError) in try store.begin() }
        let fetched = try fetcher.fetch { name, text throws(SystemCallError) in try new?.add(name, text) }
        let changes = SetChanges(from: old?.record, to: fetched.record)
        let isSame = old?.record.identity == fetched.record.identity
        if isDry { for line in changes.lines { say(line) } }
        if let new, !isSame || old?.record != fetched.record {
            try Self.local { () throws(SystemCallError) in
                if let manifest = fetched.manifest { try new.add(manifest: manifest, signature: fetched.signature) }
                try store.commit(new, fetched.record)
            }
        }
        return SyncReport(isSame ? .unchanged : .changed, changes.sentence, server: server)
    }

    private static func local<Value>(_ body: () throws(SystemCallError) -> Value) throws(SetRefusal) -> Value {
        do throws(SystemCallError) {
            return try body()
        } catch {
            throw SetRefusal("what is fetched cannot be kept: \(error)")
        }
    }
}
