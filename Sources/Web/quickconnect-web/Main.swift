import ArgumentParser
import CLinux
import CommandLineText
import Configuration
import Glibc
import Linux
import QuickConnect
import WebGateway

/// Pages in any browser. Read from here: flags and settings, then ``WebGateway``.
@main
struct QuickConnectWeb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quickconnect-web",
        abstract: "Serves pages that drive this device's hardware through the daemon quickconnectd.",
        discussion: """
            It answers the command web, so «quickconnect web open» prints an address that logs a browser in. It runs \
            until SIGTERM; pages reconnect when it or the daemon restarts.

            Exit status: 0 ended by SIGTERM or SIGINT, 1 it cannot listen or keep its files, 2 wrong usage or settings.
            """,
        version: ProjectVersion.text
    )

    @Option(
        help: ArgumentHelp(
            "Where to listen: an address and a port, or the path of a Unix socket (default: the sockets that systemd "
                + "passes, else \(WebSettings.defaultListener)).",
            valueName: "ADDRESS:PORT"
        )
    )
    var listen: String?

    @Option(help: ArgumentHelp("A folder of pages, which replace shipped pages of the same name.", valueName: "FOLDER"))
    var pages: String?

    @Flag(help: "Reload pages as their files change, and show in them what the device refuses.")
    var watch = false

    @Flag(help: "Allow inline scripts and styles, for old pages.")
    var inlineScripts = false

    @OptionGroup var gateway: GatewayFlags

    private static let signals = [SIGTERM, SIGINT]

    static func main() {
        qc_tune_memory()
        // Before any thread starts, because threads inherit the blocked signals.
        qc_block_signals(signals, Int32(signals.count))
        signal(SIGPIPE, SIG_IGN)
        start()
    }

    func run() throws {
        let environment = OwnProcess.environment
        let setup = try WebSetup(self, environment)
        let log = ServiceLog("quickconnect-web", setup.logLevel, environment: environment)
        let manager = ServiceManager(environment: environment)
        // Each page takes two descriptors.
        DescriptorLimit.raise()
        let gateway = WebGateway(setup.options, log: log)
        do throws(PlainError) {
            let address = try gateway.start()
            log.write("listening on \(address)", .info)
            if let lack = setup.lack { log.write(lack, .warning) }
            manager.ready("listening on \(address)")
        } catch {
            log.write(error.description, .error)
            Glibc.exit(1)
        }
        if let time = manager.watchdogTime { gateway.repeatEvery(time / 2) { manager.feedWatchdog() } }
        while qc_wait_for_signal(Self.signals, Int32(Self.signals.count)) == 0 {}
        manager.stopping("says goodbye to the pages")
        gateway.stop()
        Glibc.exit(0)
    }
}
