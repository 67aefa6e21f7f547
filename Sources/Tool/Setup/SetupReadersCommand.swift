import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux

struct SetupReadersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "readers",
        abstract: "Lets the service read the readers and keys of its mappings, and nobody else.",
        discussion: """
            Writes a rule of udev that makes the service their owner, and takes them from the desktop and everybody else. Call it \
            again after a change of the mappings.
            """
    )

    @OptionGroup var options: SetupOptions

    @Argument(
        help: ArgumentHelp(
            "Their names in /dev/input/by-id or by-path; none: those that the mappings name.",
            valueName: "DEVICE"
        )
    )
    var devices: [String] = []

    /// After the rules that make the links (60), before the one that gives devices to who has logged in (73).
    private static let rules = "/etc/udev/rules.d/71-quickconnect-readers.rules"

    func validate() throws {
        for device in devices where !InputName.isValid(device) {
            throw ValidationError("'\(device)' is not one exact name, as «quickconnect hardware» lists them")
        }
    }

    func run() throws {
        let place = try SetupPlace(options, "readers", isForUsers: false)
        guard let units = place.units else {
            throw ExitError(message: "systemd does not run the service here: who starts the daemon gives it its rights")
        }
        var files = SetupFiles("readers")
        let names = options.undo ? [] : try named()
        files.add(Self.rules, names.map(Self.rule).joined(separator: "\n"))
        if options.undo {
            guard try !files.remove().isEmpty else { return say("There is no set-up of readers here.") }
            try UdevRules.takeBack(Self.systemsRule, from: ["input"])
            // Those that it has open stay its own until it ends.
            return try units.run("try-restart", "quickconnectd.service")
        }
        if try !files.write() {
            return say("It is set up already; «quickconnect doctor readers» says whether they are there.")
        }
        // Those of the set-up before, too.
        try UdevRules.takeBack(Self.systemsRule, from: ["input"])
        // A card that comes before the first call would be typed into the console.
        try units.run("enable", "--now", "quickconnectd.service")
        say("Done: «quickconnect doctor readers» says whether they are there.")
    }

    /// As udev has them without a set-up. The rule for motors comes later.
    private static let systemsRule = """
        ACTION!="remove", SUBSYSTEM=="input", KERNEL=="event*", OWNER="root", GROUP="input", MODE="0660"
        """

    /// The devices that were named, else those of the mappings.
    private func named() throws -> [String] {
        guard devices.isEmpty else { return devices }
        let commands = try options.connection.call("commands").objectValue ?? [:]
        let found = commands.compactMap { $0.value.objectValue?["event"]?.objectValue?["device"]?.stringValue }
        guard !found.isEmpty else {
            throw ExitError(
                message: """
                    no mapping has an event with 'reader' or 'keys': «quickconnect hardware» lists the devices, with the lines \
                    of a mapping. After a change of the mappings reload them first; --undo takes the set-up back
                    """
            )
        }
        return Array(Set(found)).sorted()
    }

    private static func rule(of device: String) -> String {
        let links = ["by-id", "by-path"].map { "input/\($0)/\(device)" }.joined(separator: "|")
        return """
            ACTION!="remove", SUBSYSTEM=="input", KERNEL=="event*", SYMLINK=="\(links)", OWNER="quickconnect", GROUP="root", \
            MODE="0600", TAG-="uaccess", ENV{LIBINPUT_IGNORE_DEVICE}="1"
            """
    }
}
