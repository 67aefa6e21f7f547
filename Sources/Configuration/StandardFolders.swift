import Glibc

/// Where things are by default: the system's folders for root, the XDG folders for an ordinary user.
public struct StandardFolders: Sendable {
    public var config: String
    public var socket: String
    /// The shipped folder, then the owner's.
    public var mappings: [String]
    public var sounds: String
    public var media: String
    public var simulated: String

    /// - Parameters:
    ///   - program: the path of the running program: what is shipped lies in `../share/quickconnect` beside it, or
    ///     else in `/usr/share/quickconnect`.
    public init(isRoot: Bool, environment: [String: String], program: String) {
        let home = environment["HOME"] ?? "/"
        func folder(_ variable: String, _ fallback: String) -> String {
            guard let path = environment[variable], path.hasPrefix("/") else { return fallback }
            return path
        }
        let prefix = program.split(separator: "/").dropLast(2).map { "/\($0)" }.joined()
        let beside = "\(prefix)/share/quickconnect"
        let shared = FileText.exists("\(beside)/mappings") ? beside : "/usr/share/quickconnect"
        let owners = isRoot ? "/etc/quickconnect" : "\(folder("XDG_CONFIG_HOME", "\(home)/.config"))/quickconnect"
        let data = isRoot ? "/var/lib/quickconnect" : "\(folder("XDG_DATA_HOME", "\(home)/.local/share"))/quickconnect"
        config = "\(owners)/quickconnectd.yaml"
        socket =
            isRoot
            ? "/run/quickconnect/quickconnect.sock"
            : "\(folder("XDG_RUNTIME_DIR", "/run/user/\(getuid())"))/quickconnect.sock"
        mappings = ["\(shared)/mappings", "\(owners)/mappings"]
        sounds = "\(shared)/sounds"
        media = "\(data)/media"
        simulated = Self.simulated(beside: media)
    }

    /// Where simulated sound goes: a folder beside the media folder.
    static func simulated(beside media: String) -> String {
        let trimmed = media.count > 1 && media.hasSuffix("/") ? String(media.dropLast()) : media
        guard let slash = trimmed.lastIndex(of: "/") else { return "simulated" }
        return "\(trimmed[..<slash])/simulated"
    }
}

extension FileText {
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
