import ArgumentParser
import CommandLineText
import Fleet
import Glibc
import MQTT

/// Which broker, and as whom.
struct BrokerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The settings file whose «mqtt» names the broker (default: the user's, else the system's).",
            valueName: "FILE"
        )
    )
    var config: String?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The caller, as known to the broker (default: «user» of the settings, else the current user).",
            valueName: "CALLER"
        )
    )
    var caller: String?

    func validate() throws {
        if let caller, !FleetName.isValid(caller) {
            throw ValidationError("--as takes a name of \(FleetName.expectation).")
        }
    }

    func connect() throws -> FleetCaller {
        let setup = try MQTTSetup(config: config, isClient: true)
        let name = caller ?? setup.broker.user ?? Self.account
        guard FleetName.isValid(name) else {
            throw ExitError(
                message: "'\(name)' cannot be a caller over a broker; name one with --as",
                status: ExitError.usageStatus
            )
        }
        do throws(FleetFailure) {
            return try FleetCaller(setup.broker, topics: setup.topics, name: name)
        } catch {
            throw ExitError(error)
        }
    }

    private static var account: String {
        getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
    }
}

/// A remote device, or a group of them.
struct FleetOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The device, or group:NAME for a group.", valueName: "NAME"))
    var device: String

    @OptionGroup var broker: BrokerOptions

    @Option(
        help: ArgumentHelp(
            "How long to wait for answers (default: no limit; 12 seconds for a device that is away; for a group 30 seconds).",
            valueName: "SECONDS"
        )
    )
    var timeout: Double?

    @Option(help: ArgumentHelp("The time within which the members of a group answer.", valueName: "SECONDS"))
    var spread: Double?

    @Flag(help: "Print JSON, for programs.")
    var json = false

    func validate() throws {
        guard FleetTopics.Target(device) != nil else {
            throw ValidationError(
                "--device takes NAME or group:NAME, a name of \(FleetName.expectation); got '\(device)'."
            )
        }
        if let timeout, !(timeout > 0 && timeout < 1e9) {
            throw ValidationError("--timeout takes a number of seconds greater than 0.")
        }
        if let spread, !(spread >= 0 && spread <= 600) { throw ValidationError("--spread takes 0 to 600 seconds.") }
    }

    var target: FleetTopics.Target { FleetTopics.Target(device) ?? .device(device) }

    /// The one device; a group is wrong usage.
    func oneDevice(for what: String) throws -> String {
        guard case .device(let name) = target else {
            throw ValidationError("\(what) is of one device, and not of a group.")
        }
        return name
    }
}

extension ExitError {
    init(_ failure: FleetFailure) {
        var message = failure.description
        if case .noBroker = failure {
            message += "\nThe broker is that of «mqtt» in the settings; --config FILE names other settings."
        }
        self.init(message: message, status: failure.status)
    }
}
