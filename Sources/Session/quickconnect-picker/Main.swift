import ArgumentParser
import CLinux
import CommandLineText
import Concurrency
import Glibc
import Linux
import QuickConnect
import QuickConnectClient

/// Shows native dialogs in the user's graphical session. Read from here: flags, then ``SessionService``.
@main
struct QuickConnectPicker: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quickconnect-picker",
        abstract:
            "Shows native dialogs in this graphical session, and answers for its screen, for the daemon quickconnectd.",
        discussion: """
            It registers with the daemon as the handler of these commands: \(Self.names). It runs until \
            SIGTERM, and reconnects when the daemon restarts. It shows dialogs with zenity or yad.

            Exit status: 0 ended by SIGTERM or SIGINT, 1 no display, or the daemon refuses the \
            handlers, 2 wrong usage.
            """,
        version: ProjectVersion.text
    )

    private static let names = "showDate, showList, screen, notify, screenshot"

    @Option(help: ArgumentHelp("\(SocketPaths.help)", valueName: "PATH"))
    var socket: String?

    @Option(help: ArgumentHelp("The display, such as :0 or wayland-0.", valueName: "DISPLAY"))
    var display: String?

    @Option(
        help: ArgumentHelp(
            "Show nothing, and answer TEXT each time: 2027-03-14 15:09; nothing is cancel.",
            valueName: "TEXT"
        )
    )
    var answer: String?

    @Flag(
        help:
            "Show no dialog, and answer its initial value: the current time, or the first item of a list. The screen is one that remembers what it is told."
    )
    var simulate = false

    @Option(help: .hidden)
    var backlights = "/sys/class/backlight"

    @Option(help: ArgumentHelp("What to log: \(LogLevel.names).", valueName: "LEVEL"))
    var logLevel = LogLevel.notice

    static func main() {
        DialogProcess.becomeDialog(CommandLine.arguments)
        signal(SIGPIPE, SIG_IGN)
        start()
    }

    func run() throws {
        let stop = Stop()
        // The one task that is nobody's child; all others are its children.
        guard let pool = ThreadPool(name: "picker", count: 2) else { throw SystemCallError("pthread_create", EAGAIN) }
        Task.detached(executorPreference: pool) { Glibc.exit(await serve(until: stop)) }
        stop.deliver()
    }

    /// - Returns: the exit status.
    private func serve(until stop: Stop) async -> Int32 {
        let environment = OwnProcess.environment
        let log = ServiceLog("quickconnect-picker", logLevel, environment: environment)
        do {
            let shower = try shower(environment)
            let device = DeviceClient(socket: socket)
            let desk = DialogQueue(shower)
            let service = SessionService(device, try commands(environment, desk), desk, log)
            let status = await service.run(until: stop)
            await device.close()
            return status
        } catch {
            log.write("\(error)", .error)
            return 1
        }
    }

    private func shower(_ environment: [String: String]) throws -> any DialogShower {
        if simulate || answer != nil { return ToldDialogs(answer: answer) }
        return NativeDialogs(try Display(named: display, environment: environment), environment)
    }

    private func commands(_ environment: [String: String], _ desk: DialogQueue) throws -> [any SessionCommand] {
        var (ways, programs, isX11): ([any ScreenWay], ScreenProgram?, Bool) = ([SimulatedScreen()], nil, false)
        if !simulate, answer == nil {
            let display = try Display(named: display, environment: environment)
            let all = ScreenProgram(environment: environment.merging(display.variables) { _, last in last })
            let server: any ScreenWay = display.isX11 ? XScreen(programs: all) : WaylandScreen(programs: all)
            ways = [Backlight(folder: backlights, programs: all), server, MonitorBus(programs: all)]
            (programs, isX11) = (all, display.isX11)
        }
        let own = environment["XDG_RUNTIME_DIR"]
        if let own { ScreenshotCommand.clean(own) }
        let folder = own ?? environment["TMPDIR"] ?? "/tmp"
        return Pickers.all.map { PickerCommand(picker: $0, desk: desk) } + [
            ScreenCommand(screen: Screen(ways: ways)),
            NotifyCommand(programs: programs),
            ScreenshotCommand(folder: folder, programs: programs, isX11: isX11),
        ]
    }
}

/// SIGTERM and SIGINT, which come to the main thread and nowhere else.
final class Stop: Sendable {
    private static let signals = [SIGTERM, SIGINT]
    private let promise = Deferred<Void, Interruption>()

    /// Must be made before any other thread starts, because threads inherit the blocked signals.
    init() {
        qc_block_signals(Self.signals, Int32(Self.signals.count))
    }

    /// Delivers signals for as long as the process lives; the second one ends it at once.
    func deliver() -> Never {
        while true {
            let signal = qc_wait_for_signal(Self.signals, Int32(Self.signals.count))
            if signal != 0, !promise.fulfil(()) { _exit(128 + signal) }
        }
    }

    /// Returns when one came, or the task is cancelled.
    func wait() async { _ = try? await promise.value() }
}
