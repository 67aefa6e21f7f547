internal import Glibc

extension Program {
    /// The path of a program that is installed with this one: beside it, or in `../libexec/quickconnect`; otherwise its
    /// name alone, for `PATH`.
    package static func installed(_ name: String) -> String {
        let own = OwnProcess.program
        guard let slash = own.lastIndex(of: "/") else { return name }
        let folder = own[..<slash]
        let candidates = ["\(folder)/\(name)", "\(folder)/../libexec/quickconnect/\(name)"]
        return candidates.first { access($0, X_OK) == 0 } ?? name
    }

    /// Whether that program is on this device.
    package static func isInstalled(_ name: String) -> Bool { installed(name) != name || isInPath(name) }

    /// Whether a folder of `PATH` has a program of that name.
    package static func isInPath(_ name: String, _ environment: [String: String] = OwnProcess.environment) -> Bool {
        let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        return folders.contains { access("\($0)/\(name)", X_OK) == 0 }
    }
}
