import ArgumentParser
import CommandLineText
import Configuration
import Glibc
import Linux
import QuickConnect
import QuickConnectClient

/// A window that is the book's web view. Read from here: flags and settings, then ``Kiosk``.
@main
struct QuickConnectKiosk: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quickconnect-kiosk",
        abstract: "Shows a page that drives this device's hardware through the daemon quickconnectd.",
        discussion: """
            The page is a folder with an index.html, an HTML file with its folder, or an address. A link with a scheme \
            that the settings list is passed to the running window. The program ends with its window, its key, or SIGTERM.

            Exit status: 0 closed, 1 no display or no engine, 2 wrong usage or settings.
            """,
        version: ProjectVersion.text
    )

    @Argument(help: ArgumentHelp("The page (default: the page in the settings).", valueName: "FOLDER|FILE|ADDRESS"))
    var page: String?

    @Flag(help: "Cover the whole monitor.")
    var fullScreen = false

    @Option(help: ArgumentHelp("\(SocketPaths.help)", valueName: "PATH"))
    var socket: String?

    @Option(help: ArgumentHelp("The settings file.", valueName: "FILE"))
    var config: String?

    @Flag(help: "Log the messages of the page's bridge.")
    var logMessages = false

    @Flag(help: "Let a WebDriver drive the page.")
    var automation = false

    @Option(help: ArgumentHelp("What to log: \(LogLevel.names).", valueName: "LEVEL"))
    var logLevel: LogLevel?

    static func main() {
        signal(SIGPIPE, SIG_IGN)
        start()
    }

    func run() throws {
        let environment = OwnProcess.environment
        let setup = try KioskSetup(self, environment)
        let log = ServiceLog("quickconnect-kiosk", setup.logLevel, environment: environment)
        if let status = handOver(setup.options, log) { Glibc.exit(status) }
        lighten()
        let status: Int32 = MainActor.assumeIsolated {
            do throws(Kiosk.Failure) {
                let kiosk = try Kiosk(setup.options, log: log)
                let actions = KioskActions(kiosk, setup.actions, views: setup.actionViews, log)
                kiosk.closeIfSettingsChange {
                    // With a mistake the window stays as it is, like the daemon.
                    guard let new = try? KioskSetup(self, environment) else { return false }
                    return !new.options.settings.makesSame(as: setup.options.settings)
                }
                let status = withExtendedLifetime(actions) { kiosk.run() }
                if kiosk.isOutdated { beginAgain(log) }
                return status
            } catch {
                log.write("\(error)", .error)
                return error.isMistake ? 2 : 1
            }
        }
        Glibc.exit(status)
    }
}

extension QuickConnectKiosk {
    /// Hands an address of the owner's schemes to the window that runs.
    /// - Returns: the exit status; nil if there is no such address, or no window.
    private func handOver(_ options: KioskOptions, _ log: ServiceLog) -> Int32? {
        guard let address = options.handedOver, let path = options.handoverPath,
            let words = Handover.send(address, to: path)
        else { return nil }
        if !words.isEmpty { log.write(words, .error) }
        return words.isEmpty ? 0 : 1
    }

    /// Replaces this process by a new one of the same program, which stays what systemd or an X session has started.
    private func beginAgain(_ log: ServiceLog) {
        let program = OwnProcess.program
        var words = ([program] + CommandLine.arguments.dropFirst()).map { strdup($0) } + [nil]
        execv(program, &words)
        log.write("the window cannot be opened anew: \(SystemCallError.text(errno))", .error)
    }

    /// Without a GPU, the engine's GPU buffers would only cost half of a page's memory and some start-up time.
    private func lighten() {
        if FileText.names(in: "/dev/dri")?.contains(where: { $0.hasPrefix("renderD") }) != true {
            setenv("WEBKIT_DISABLE_DMABUF_RENDERER", "1", 0)
        }
    }
}
