import ArgumentParser
import CLinux
import CommandLineText
import Glibc
import QuickConnect

/// A fleet over a broker. The service is ``ServeCommand``; the other commands are its clients.
@main
struct QuickConnectMQTT: ParsableCommand {
    static let name = "quickconnect-mqtt"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Receives calls for this device from an MQTT broker, or makes calls to remote devices.",
        discussion: """
            Without a command it runs the gateway: it needs «mqtt» in the settings, and runs until SIGTERM. «quickconnect \
            --device NAME …» and «quickconnect fleet» use the other commands.

            Exit status of the gateway: 0 ended by SIGTERM or SIGINT, 1 it cannot run, 2 wrong usage or settings.
            """,
        version: ProjectVersion.text,
        subcommands: [
            ServeCommand.self, RemoteCallCommand.self, RemoteSetCommand.self, RemoteListCommand.self,
            RemoteExplainCommand.self,
            RemoteEventsCommand.self,
            FleetDoctorCommand.self, DevicesCommand.self,
        ],
        defaultSubcommand: ServeCommand.self
    )

    static func main() {
        qc_tune_memory()
        signal(SIGPIPE, SIG_DFL)
        start()
    }
}
