import CommandLineText
import Glibc
import Linux

/// What set-ups have udev do.
enum UdevRules {
    /// Has udev apply its rules to the devices that there are.
    static func apply(to subsystems: [String]) throws {
        try runAloud("udevadm", "control", "--reload")
        for subsystem in subsystems {
            try runAloud("udevadm", "trigger", "--subsystem-match=\(subsystem)", "--action=change", "--settle")
        }
    }

    /// Applies the rules, and takes back what a rule that has gone has given: udev leaves it as it is without a rule that says
    /// otherwise. This one does not stay. It comes before all others but the system's own.
    static func takeBack(_ rules: String, from subsystems: [String]) throws {
        try LocalFile.change(undoing) { () throws(SystemCallError) in
            if let folder = Folders.parent(of: undoing), !FileText.exists(folder) { try Folders.make(folder) }
            try FileText.replace(undoing, with: "\(rules)\n", mode: 0o644)
        }
        let outcome = Result { try apply(to: subsystems) }
        unlink(undoing)
        try outcome.get()
        try runAloud("udevadm", "control", "--reload")
    }

    private static let undoing = "/run/udev/rules.d/51-quickconnect-undo.rules"
}
