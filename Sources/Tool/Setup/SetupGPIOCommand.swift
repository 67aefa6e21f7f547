import ArgumentParser
import CommandLineText
import Glibc

struct SetupGPIOCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gpio",
        abstract: "Lets the service use GPIO lines, LEDs and chips that make pulses.",
        discussion: """
            Writes a rule of udev that makes the service's user their owner. Where the system has a group «gpio» for its lines, the \
            service becomes a member of it instead, and other programs keep theirs.
            """
    )

    @OptionGroup var options: SetupOptions

    private static let rules = "/etc/udev/rules.d/90-quickconnect-gpio.rules"
    private static let dropIn = "/etc/systemd/system/quickconnectd.service.d/setup-gpio.conf"

    func run() throws {
        let place = try SetupPlace(options, "gpio", isForUsers: false)
        guard let units = place.units else {
            throw ExitError(message: "systemd does not run the service here: who starts the daemon gives it its rights")
        }
        var files = SetupFiles("gpio")
        let hasGroup = getgrnam("gpio") != nil
        files.add(Self.rules, hasGroup ? Self.rule(giving: ":gpio", to: "g") : Self.ownersRules(giving: "quickconnect"))
        files.add(Self.dropIn, hasGroup ? "[Service]\nSupplementaryGroups=gpio" : nil)
        if options.undo {
            guard try !files.remove().isEmpty else { return say("There is no set-up of GPIO lines here.") }
        } else if try !files.write() {
            return say("It is set up already; «quickconnect hardware» lists what there is.")
        }
        let subsystems = ["gpio", "leds", "pwm"]
        // The group's are the system's own matter.
        if options.undo, !hasGroup {
            try UdevRules.takeBack(Self.ownersRules(giving: "root"), from: subsystems)
        } else {
            try UdevRules.apply(to: subsystems)
        }
        try units.run("daemon-reload")
        // What must be off from power-on cannot wait for the first call.
        if !options.undo { try units.run("enable", "quickconnectd.service") }
        try units.run("restart", "quickconnectd.service")
        if !options.undo { say("Done: «quickconnect hardware» lists what there is, with the lines of a mapping.") }
    }

    /// An owner and no group: in the service's group is everybody who may make calls, and calls have rules.
    private static func ownersRules(giving owner: String) -> String {
        """
        ACTION!="remove", SUBSYSTEM=="gpio", KERNEL=="gpiochip*", OWNER="\(owner)"
        \(rule(giving: owner, to: "u"))
        """
    }

    /// - Parameters:
    ///   - owner: as chown(1) takes it.
    ///   - who: as chmod(1) calls it.
    private static func rule(giving owner: String, to who: String) -> String {
        """
        ACTION!="remove", SUBSYSTEM=="pwm", RUN+="/bin/sh -c 'chown -R \(owner) /sys$devpath; chmod -R \(who)+w /sys$devpath'"
        ACTION!="remove", SUBSYSTEM=="leds", RUN+="/bin/sh -c 'cd /sys$devpath && chown \(owner) brightness trigger && chmod \(who)+w brightness trigger'"
        """
    }
}
