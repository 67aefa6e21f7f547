internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect

/// Where the input devices of a machine are.
package struct InputFolders: Sendable {
    /// With `event0`, and the folders `by-id` and `by-path`.
    package var devices = "/dev/input"
    /// Where udev notes which devices ask for the same link.
    package var links = "/run/udev/links"

    /// Whom this process runs as.
    let ownUser: String

    /// - Parameter ownUser: the name of the user that this process runs as.
    package init(ownUser: String = "quickconnect") { self.ownUser = ownUser }

    /// A device that cannot be opened or taken, with the command that allows it.
    func refusal(of name: String, _ error: SystemCallError) -> CommandError {
        let isDenied = error.code == EACCES || error.code == EPERM
        let isService = ownUser == "quickconnect"
        let fix = isService ? "sudo quickconnect setup readers" : "sudo usermod -aG input \(ownUser.shellWord)"
        return CommandError(
            isDenied ? .denied : .unavailable,
            "the input device \(name) cannot be used: \(error)",
            details: isDenied ? ["fix": .string(fix)] : [:]
        )
    }

    /// The folders of names that stay.
    private var byName: [String] { ["\(devices)/by-id", "\(devices)/by-path"] }

    /// The names that a device may be declared by.
    package var names: [String] {
        let all = byName.flatMap { FileText.names(in: $0) ?? [] }.filter(InputName.isValid)
        return Array(Set(all)).sorted()
    }

    /// The path of the device with that name. Throws `unavailable` where there is none, and `invalid` where there are two.
    func path(of name: String) throws(CommandError) -> String {
        let paths = byName.map { "\($0)/\(name)" }.filter { FileText.exists($0) }
        guard let path = paths.first else {
            throw .missingPart("there is no input device \(name)")
        }
        let claims = claims(of: path)
        guard claims < 2 else {
            throw .missingPart(
                "\(claims) input devices are named \(name), and none of them is used; take one's name in \(devices)/by-path",
                .invalid
            )
        }
        return path
    }

    /// How many devices ask udev for that link.
    private func claims(of path: String) -> Int {
        let name = path.dropFirst(devices.count).drop { $0 == "/" }
        // udev writes each slash so; older versions begin with one.
        let text = "input/\(name)".split(separator: "/").joined(separator: "\\x2f")
        let folder = ["\(links)/\(text)", "\(links)/\\x2f\(text)"].first { FileText.exists($0) }
        return (folder.flatMap { FileText.names(in: $0) } ?? []).count { $0.hasPrefix("c") }
    }
}
