import ArgumentParser
import CommandLineText
import Fleet
import Glibc
import JSON
import Linux
import MQTT
import QuickConnect

struct RemoteListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the commands of a remote device."
    )

    @OptionGroup var options: FleetOptions

    func run() throws {
        _ = try options.oneDevice(for: "A list")
        let commands = try RemoteCall(options: options, command: "commands", payload: nil).value()
        say(options.json ? commands.text : CommandListing.text(commands, width: Terminal.width))
    }
}

struct RemoteExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explains one command of a remote device."
    )

    @OptionGroup var options: FleetOptions

    @Argument(help: "The command.")
    var command: String

    func run() throws {
        _ = try options.oneDevice(for: "An explanation")
        let payload = JSONValue.array([.string(command)]).text
        let answer = try RemoteCall(options: options, command: "explain", payload: payload).value()
        say(options.json ? answer.text : Explanation(answer.objectValue ?? [:]).text(width: Terminal.width))
    }
}

struct FleetDoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks every part of a remote device, or of each device of a group.",
        discussion: "Exit status 0 only if no problem is found."
    )

    @OptionGroup var options: FleetOptions

    func run() throws {
        let call = RemoteCall(options: options, command: "doctor", payload: nil)
        guard case .device = options.target else {
            var isOK = true
            try GroupAnswers(isJSON: options.json).show(call) { value in
                let report = DoctorReport(value)
                isOK = isOK && report?.isOK ?? false
                return Self.words(report)
            }
            if !isOK { throw ExitError.refused }
            return
        }
        let answer = try call.value()
        guard let report = DoctorReport(answer) else {
            throw ExitError(message: "the device's report cannot be read: \(answer.text)", status: 1)
        }
        say(options.json ? report.json.text : report.text(width: Terminal.width))
        if !report.isOK { throw ExitError.refused }
    }

    /// A report in a line.
    private static func words(_ report: DoctorReport?) -> String {
        guard let report else { return "its report cannot be read" }
        let errors = report.findings.filter { $0.state == .error }.map { "\($0.subject): \($0.says)" }
        return errors.isEmpty ? "ok" : "error  \(errors.joined(separator: "; "))".escapingControls
    }
}

struct RemoteEventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract:
            "Prints events and states of a remote device as they arrive, one JSON object per line, until interrupted.",
        discussion: """
            Each line is {"event": NAME, "data": VALUE}; for a group there is {"device": NAME, …}. Only what the device's settings \
            list is published: without NAME it is listed. Standard error says when the device is offline, and when it is online again.
            """
    )

    @OptionGroup var options: FleetOptions

    @Argument(help: ArgumentHelp("The events' names.", valueName: "NAME"))
    var names: [String] = []

    func run() throws {
        guard !names.isEmpty else { return try list() }
        for number in [SIGINT, SIGTERM] { signal(number) { _ in _exit(0) } }
        let caller = try options.broker.connect()
        do throws(FleetFailure) {
            switch options.target {
            case .device(let name):
                let member = try caller.look(at: name)[name]
                if member == nil { note(unknown(caller)) }
                if let known = member?.info?.publishes { for name in names { doubt(name, known) } }
                try caller.hear(names, of: name, presence: tell) { show(nil, $1, $2) }
            case .group(let name):
                // Members that join later are ignored.
                let members = try caller.look().present(in: name)
                try caller.hear(
                    names,
                    of: nil,
                    presence: { if members.contains($0.name) { tell($0) } },
                    { if members.contains($0) { show($0, $1, $2) } }
                )
            }
        } catch {
            throw ExitError(error)
        }
    }

    private func list() throws {
        let name = try options.oneDevice(for: "A list of events")
        let caller = try options.broker.connect()
        let members: FleetMembers
        do throws(FleetFailure) { members = try caller.look(at: name) } catch { throw ExitError(error) }
        guard let member = members[name] else { throw ExitError(message: unknown(caller), status: 3) }
        guard let known = member.info?.publishes else {
            throw ExitError(message: "\(name) does not say which events it publishes", status: 1)
        }
        if options.json { return say(JSONValue.array(known.map(JSONValue.string)).text) }
        known.isEmpty ? note(nothing) : say(known.joined(separator: "\n"))
    }

    private func doubt(_ name: String, _ known: [String]) {
        guard !known.contains(name) else { return }
        note(
            known.isEmpty
                ? nothing : "\(options.device) does not publish '\(name)'\(NearestNames.question(name, among: known))"
        )
    }

    private func unknown(_ caller: FleetCaller) -> String {
        "nothing is known of \(options.target.words) at the broker\(caller.question(options.target))"
    }

    private var nothing: String {
        "\(options.device) publishes no events: «events» of «mqtt» in its settings lists them"
    }

    private func note(_ text: String) { write("quickconnect-mqtt: \(text.escapingControls)\n", to: STDERR_FILENO) }

    private func tell(_ member: FleetMembers.Member) {
        write("\(member.presence.escapingControls)\n", to: STDERR_FILENO)
    }

    private func show(_ device: String?, _ name: String, _ payload: [UInt8]) {
        let text = String(decoding: payload, as: UTF8.self)
        var line: JSONObject = [:]
        line["device"] = device.map(JSONValue.string)
        line["event"] = .string(name)
        line["data"] = (try? JSONParser.parse(text)) ?? .string(text)
        say(JSONValue.object(line).text)
    }
}

struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Lists the devices at the broker: status, since when, version, and the result of the doctor.",
        discussion: """
            SINCE is when the device came, or when it went; «-» where it could not say so, as without power. For a device \
            that has gone, DOCTOR says why if that is known.
            """
    )

    @OptionGroup var broker: BrokerOptions

    @Flag(help: "Print JSON, for programs.")
    var json = false

    func run() throws {
        let caller = try broker.connect()
        let members: [FleetMembers.Member]
        do throws(FleetFailure) { members = try caller.look().all } catch { throw ExitError(error) }
        guard !json else { return say(JSONValue.array(members.map(\.json)).text) }
        guard !members.isEmpty else {
            write(
                "no device is known at the broker, or the broker does not let this caller read their status\n",
                to: STDERR_FILENO
            )
            return
        }
        let head = ["DEVICE", "STATUS", "SINCE", "VERSION", "GROUPS", "DOCTOR"]
        say(Table.columns([head] + members.map(Self.row)))
    }

    private static func row(_ member: FleetMembers.Member) -> [String] {
        let groups = member.info?.groups.joined(separator: ",") ?? ""
        return [
            member.name, member.status?.rawValue ?? "?", member.since ?? "-", member.info?.version ?? "-",
            groups.isEmpty ? "-" : groups, member.doctor,
        ]
    }
}
