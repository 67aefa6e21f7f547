import ArgumentParser
import CLinux
import CommandLineText
import Concurrency
import Configuration
import Glibc
import JSON
import Linux
import QuickConnect

/// The daemon. Read from here: flags and settings, then ``Daemon``, which is the wiring.
@main
struct Main {
    static func main() {
        qc_tune_memory()
        let signals = Signals()
        guard let pool = ThreadPool(name: "qc-task", count: 2) else {
            print("no thread can be started", to: &standardError)
            exit(ExitStatus.failed)
        }
        // The root task, the daemon. All other tasks are its children and run on its executor.
        Task(executorPreference: pool) { exit(await run(signals, pool)) }
        signals.deliver()
    }

    private static func run(_ signals: Signals, _ pool: ThreadPool) async -> Int32 {
        let environment = OwnProcess.environment
        let flags = parseFlags()
        if flags.version {
            print("quickconnectd \(ProjectVersion.text)")
            return ExitStatus.clean
        }
        let folders = StandardFolders(environment)
        if flags.doctor || flags.check || flags.folders || flags.releaseOutputs { signals.endAtOnce() }
        if flags.doctor { return await examine(flags, folders, environment) }
        if flags.check { return await check(flags, folders, environment) }
        if flags.releaseOutputs {
            let (settings, _) = Settings.read(flags: flags.overrides, environment: environment, folders: folders)
            let journal = Journal(environment: environment)
            let status = Daemon(settings, journal: journal).releaseOutputs()
            await journal.close()
            return status
        }
        do throws(ConfigurationMistakes) {
            let settings = try Settings.load(flags: flags.overrides, environment: environment, folders: folders)
            if flags.folders {
                print(KeptPlaces(settings, folders).json.text)
                return ExitStatus.clean
            }
            let journal = Journal(environment: environment)
            let overrides = flags.overrides
            let daemon = Daemon(settings, journal: journal) {
                Settings.read(flags: overrides, environment: environment, folders: folders)
            }
            let context = ProcessContext(
                environment: environment,
                defaultSocket: folders.socket,
                signals: signals,
                pool: pool
            )
            let status = await daemon.run(in: context)
            await journal.close()
            return status
        } catch {
            report(error, environment)
            return ExitStatus.mistake
        }
    }

    /// Reports all mistakes in the settings and the mappings, without touching a device.
    private static func check(
        _ flags: Flags,
        _ folders: StandardFolders,
        _ environment: [String: String]
    ) async -> Int32 {
        let (settings, mistakes) = Settings.read(flags: flags.overrides, environment: environment, folders: folders)
        let journal = Journal(environment: environment)
        let status = Daemon(settings, journal: journal).check(mistakes, environment)
        await journal.close()
        return status
    }

    /// Reports mistakes: plain for a person, with the level of an error for the journal.
    static func report(_ mistakes: ConfigurationMistakes, _ environment: [String: String]) {
        Daemon.show(mistakes.mistakes, as: OwnProcess.logsToJournal(environment) ? "<3>" : "")
    }

    private static func examine(
        _ flags: Flags,
        _ folders: StandardFolders,
        _ environment: [String: String]
    ) async -> Int32 {
        let journal = Journal(environment: environment)
        let doctor = Doctor(flags: flags.overrides, environment: environment, folders: folders, journal: journal)
        let report = await doctor.report()
        await journal.close()
        print(flags.json ? report.json.text : report.text(width: Terminal.width))
        return report.isOK ? ExitStatus.clean : ExitStatus.failed
    }

    private static func parseFlags() -> Flags {
        do { return try Flags.parse() } catch { Flags.end(error) }
    }
}

/// The exit statuses, as docs/configuration.md lists them.
enum ExitStatus {
    static let clean: Int32 = 0
    static let failed: Int32 = 1
    static let mistake: Int32 = 2
}

/// Standard error as a stream, for what is said before the log begins.
struct StandardError: TextOutputStream {
    func write(_ text: String) {
        var text = text
        text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

nonisolated(unsafe) var standardError = StandardError()

/// What the process was given, and has begun with.
struct ProcessContext {
    let environment: [String: String]
    /// The socket to make where neither the settings nor systemd say another.
    let defaultSocket: String
    let signals: Signals
    let pool: ThreadPool
}

/// Where this device keeps what a backup holds, for `quickconnect backup`: `{"configuration", "values", "state", "actions",
/// "elsewhere": [path, …]}`. The last are folders and pages of the owner's outside of the first.
struct KeptPlaces {
    let json: JSONValue

    init(_ settings: Settings, _ folders: StandardFolders) {
        let configuration = Folders.parent(of: folders.config) ?? "/"
        let kiosk = settings.kiosk
        let single = [settings.scripts, settings.web.pages, kiosk.page, kiosk.fallback].compactMap(\.self)
        let named = settings.mappings.map(\.path) + single + kiosk.pages.map(\.open)
        var seen = Set(folders.mappings)
        let elsewhere = named.filter { path in
            !path.hasPrefix("\(configuration)/") && !path.contains("://") && seen.insert(path).inserted
        }
        json = [
            "configuration": .string(configuration), "values": .string(settings.values),
            "state": .string(folders.state), "actions": .string(folders.actionStates.own),
            "elsewhere": .array(elsewhere.map(JSONValue.string)),
        ]
    }
}
