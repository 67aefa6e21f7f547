import ArgumentParser
import CommandLineText
import Configuration
import Glibc
import Linux
import MQTT
import QuickConnect

/// The gateway. Read from here: settings, then ``MQTTGateway``.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Runs the gateway of this device (the default)."
    )

    @OptionGroup var gateway: GatewayFlags

    @Flag(
        help: "Check the settings, connect, check that the broker restricts this device to its own name, and exit."
    )
    var check = false

    func run() throws {
        let setup = try MQTTSetup(config: gateway.config, isClient: false)
        if check { return try look(setup) }
        let log = ServiceLog(QuickConnectMQTT.name, gateway.level(setup.settings), environment: setup.environment)
        signal(SIGPIPE, SIG_IGN)
        let service: MQTTGateway
        do {
            let manager = ServiceManager(environment: setup.environment)
            service = try MQTTGateway(try options(setup), log: log, manager: manager)
        } catch let end as ExitError {
            throw end
        } catch {
            throw ExitError(message: "\(error)", status: 1)
        }
        Glibc.exit(service.run())
    }

    private func options(_ setup: MQTTSetup) throws -> MQTTOptions {
        var options = MQTTOptions(
            settings: setup.mqtt,
            broker: setup.broker,
            device: try setup.device(),
            daemonPaths: gateway.daemonPaths(setup.settings, setup.environment),
            bridgePath: gateway.bridgePath(of: MQTTSettings.gateway, setup.settings),
            version: ProjectVersion.text
        )
        options.socketCommands = setup.settings.sockets.first { $0.gateway?.value == MQTTSettings.gateway }?.commands
            .map(
                \.value
            )
        options.state = try stateFolder(setup)
        options.limits = setup.settings.limits
        return options
    }

    private func stateFolder(_ setup: MQTTSetup) throws -> String {
        let path = gateway.statePath(of: MQTTSettings.gateway, setup.folders, setup.environment)
        do throws(SystemCallError) { try Folders.make(path) } catch {
            throw ExitError(message: "\(path): \(error)", status: 1)
        }
        return path
    }

    private func look(_ setup: MQTTSetup) throws {
        let device = try setup.device()
        let findings: [RightsCheck.Finding]
        do throws(FleetFailure) {
            findings = try RightsCheck(setup.broker, topics: setup.topics, device: device).run()
        } catch {
            throw ExitError(message: error.description, status: 1)
        }
        say("The settings are valid; \(device) is connected to \(setup.broker.host):\(setup.broker.port).")
        for finding in findings { say("\(finding.isOK ? "ok   " : "error")  \(finding.text)") }
        if findings.contains(where: { !$0.isOK }) { throw ExitError.refused }
    }
}
