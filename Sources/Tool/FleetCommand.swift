import ArgumentParser
import Linux

struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Lists the devices at the broker: status, since when, version, and the result of the doctor.",
        usage: "quickconnect fleet [--json] [--config <FILE>] [--as <CALLER>]",
        discussion: """
            Needs the package quickconnect-mqtt, and the broker in the settings («mqtt»): see docs/fleet.md.

            Examples:
              quickconnect fleet
              quickconnect --device kiosk1 call playSound 0
              quickconnect --device group:lobby call playSound 0
              quickconnect --device kiosk1 events doorbell
            """
    )

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("Flags of quickconnect-mqtt fleet.", valueName: "FLAG")
    )
    var words: [String] = []

    func run() throws {
        if words.first == "--help" || words.first == "-h" { throw CleanExit.helpRequest(self) }
        try OwnPrograms.become(RemoteArguments.program, ["fleet"] + words)
    }
}

/// The command line of a call to a device elsewhere: `quickconnect --device NAME COMMAND …`.
struct RemoteArguments {
    static let program = "quickconnect-mqtt"

    /// The commands of quickconnect-mqtt itself; every other one is a command of the device.
    private static let commands = ["call", "set", "list", "explain", "events", "doctor"]
    /// Commands that only work on this device.
    private static let local = ["run", "procedure", "fleet"]
    private static let options = ["--json", "--device", "--config", "--as", "--timeout", "--spread"]

    static let noName = ValidationError("--device needs the NAME of a device, or group:NAME.")
    static func isOption(_ word: String) -> Bool { options.contains(String(word.prefix { $0 != "=" })) }

    private let device: String
    private let others: [String]
    private let words: [String]

    /// Nil if no device is named before the command.
    init?(_ arguments: [String]) throws {
        var rest = arguments[...]
        var others: [String] = []
        var device: String?
        while let word = rest.first, word.hasPrefix("--") {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let name = parts.first, Self.isOption(word) else { break }
            rest.removeFirst()
            var value = parts.count > 1 ? parts[1] : nil
            if value == nil, name != "--json" { value = rest.popFirst() }
            if name == "--device" {
                guard let value else { throw Self.noName }
                device = value
            } else {
                others += [name] + (value.map { [$0] } ?? [])
            }
        }
        guard let device else { return nil }
        (self.device, self.others, words) = (device, others, Array(rest))
    }

    /// Replaces this process by the program that reaches the device.
    func become() throws { try OwnPrograms.become(Self.program, try line()) }

    /// The arguments of that program.
    func line() throws -> [String] {
        guard let first = words.first else { throw ValidationError("A command is missing behind --device \(device).") }
        guard !Self.local.contains(first) else {
            throw ValidationError("'\(first)' is for this device only; --device goes with \(Self.list).")
        }
        let isOwn = Self.commands.contains(first)
        let tool = "quickconnect --device \(device.shellWord)"
        let words = first == "add" ? try AddCommand.words(of: Array(words.dropFirst()), tool: tool) : words
        let command = isOwn ? [first] : ["call"]
        return command + ["--device", device] + others + (isOwn ? Array(words.dropFirst()) : words)
    }

    private static var list: String {
        (commands + ["add"]).sorted().joined(separator: ", ") + " and the device's commands"
    }
}
