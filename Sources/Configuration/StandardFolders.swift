import Glibc
import Linux

/// Where things are by default: the system's folders for root, the XDG folders for an ordinary user.
public struct StandardFolders: Sendable {
    public var config: String
    public var socket: String
    /// The shipped folder, then the owner's.
    public var mappings: [String]
    public var sounds: String
    /// The shipped track of the simulated position.
    public var track: String
    /// The folder of the owner's scripts.
    public var scripts: String
    public var media: String

    /// - Parameters:
    ///   - program: the path of the running program, beside which what is shipped is looked for.
    public init(isRoot: Bool, environment: [String: String], program: String) {
        let home = environment["HOME"] ?? "/"
        func folder(_ variable: String, _ fallback: String) -> String {
            guard let path = environment[variable], path.hasPrefix("/") else { return fallback }
            return path
        }
        let shared = Self.shared(program)
        // systemd names a service's folders, whatever user it runs as (systemd.exec(5)).
        let owners = folder(
            "CONFIGURATION_DIRECTORY",
            isRoot ? "/etc/quickconnect" : "\(folder("XDG_CONFIG_HOME", "\(home)/.config"))/quickconnect"
        )
        let data = folder(
            "STATE_DIRECTORY",
            isRoot ? "/var/lib/quickconnect" : "\(folder("XDG_DATA_HOME", "\(home)/.local/share"))/quickconnect"
        )
        config = "\(owners)/quickconnectd.yaml"
        socket =
            isRoot
            ? "/run/quickconnect/quickconnect.sock"
            : "\(folder("XDG_RUNTIME_DIR", "/run/user/\(getuid())"))/quickconnect.sock"
        mappings = ["\(shared)/mappings", "\(owners)/mappings"]
        scripts = "\(owners)/scripts"
        sounds = "\(shared)/sounds"
        track = "\(shared)/tracks/westminster.json"
        media = "\(data)/media"
    }

    /// Where what is shipped lies: `share/quickconnect` of the prefix that the program is installed under, the
    /// checkout that it was built in, else `/usr/share/quickconnect`.
    private static func shared(_ program: String) -> String {
        let parents = program.split(separator: "/").dropLast()
        let prefix = parents.dropLast().map { "/\($0)" }.joined()
        let checkout = parents.prefix { !$0.hasPrefix(".build") }.map { "/\($0)" }.joined()
        let candidates = ["\(prefix)/share/quickconnect"] + (checkout.count < program.count ? [checkout] : [])
        return candidates.first { FileText.exists("\($0)/mappings/daemon.yaml") } ?? "/usr/share/quickconnect"
    }

    /// Where simulated sound goes: a folder beside the media folder.
    static func simulated(beside media: String) -> String {
        let trimmed = trimmed(media)
        guard let slash = trimmed.lastIndex(of: "/") else { return "simulated" }
        return "\(trimmed[..<slash])/simulated"
    }

    /// The index of whose the media folder's files are: `media.owners` beside `media`.
    static func owners(beside media: String) -> String { "\(trimmed(media)).owners" }

    private static func trimmed(_ folder: String) -> String {
        folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    }
}
