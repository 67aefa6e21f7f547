internal import Glibc

/// Where things are by default: the system's folders for root, the XDG folders for an ordinary user.
package struct StandardFolders: Sendable {
    package var config: String
    package var socket: String
    /// The shipped folder, then the owner's.
    package var mappings: [String]
    package var sounds: String
    /// The shipped track of the simulated position.
    package var track: String
    /// The shipped track of the simulated motion.
    package var motionTrack: String
    /// The folder of the owner's scripts.
    package var scripts: String
    /// The folder of the owner's macros.
    package var macros: String
    /// The folder of those that are shipped.
    package var shippedMacros: String
    /// The folder of the owner's pages.
    package var pages: String
    /// The folder of those that are shipped.
    package var shippedPages: String
    /// The folder of what `quickconnect new` begins with.
    package var templates: String
    /// The folder of the owner's stored procedures.
    package var procedures: String
    /// The folder of those that are shipped.
    package var shippedProcedures: String
    /// The owner's file of what a server of procedures wants to see.
    package var syncToken: String
    /// The folders of actions: the user's own for an ordinary user, the owner's, and the shipped one.
    package var actions: (user: String?, owner: String, shipped: String)
    /// The folder of the view of actions.
    package var actionView: String
    /// The state of actions: root's, which everybody may read, and the user's own, for root the same.
    package var actionStates: (system: String, own: String)
    /// This program's state: for a service its own folder, which no other service may read.
    package var state: String
    package var media: String { "\(state)/media" }
    /// Why those of an ordinary user are nowhere, as a sentence; nil if they are somewhere.
    package let problem: String?

    /// The folder of fetched procedures, separate from other state because two users share it.
    package var fetched: String { "\(Folders.parent(of: state) ?? "")/quickconnect-sync" }

    /// - Parameters:
    ///   - program: the path of the running program, beside which what is shipped is looked for.
    ///   - service: the name of its folder in `/var/lib`.
    ///   - account: the home of the user, which counts where HOME names none.
    package init(
        isRoot: Bool,
        environment: [String: String],
        program: String,
        service: String = "quickconnect",
        account: @autoclosure () -> String? = SystemNames.home(ofUser: geteuid())
    ) {
        func whole(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let known = isRoot ? "/root" : whole(environment["HOME"]) ?? whole(account())
        let home = known == "/" ? "" : known ?? ""
        // Where a unit has several folders, systemd names them all, the first one first.
        func folder(_ variable: String, _ fallback: String) -> String {
            guard let path = environment[variable]?.split(separator: ":").first, path.hasPrefix("/") else {
                return fallback
            }
            return String(path)
        }
        let variables = [["CONFIGURATION_DIRECTORY", "XDG_CONFIG_HOME"], ["STATE_DIRECTORY", "XDG_DATA_HOME"]]
        let isNamed = variables.allSatisfy { $0.contains { !folder($0, "").isEmpty } }
        problem =
            known == nil && !isNamed
            ? "this user has no home, so that settings and state would be nowhere: set HOME to a whole path" : nil
        let shared = Self.shared(program)
        // systemd names a service's folders, whatever user it runs as (systemd.exec(5)).
        let owners = folder(
            "CONFIGURATION_DIRECTORY",
            isRoot ? "/etc/quickconnect" : "\(folder("XDG_CONFIG_HOME", "\(home)/.config"))/quickconnect"
        )
        state = folder(
            "STATE_DIRECTORY",
            isRoot ? "/var/lib/\(service)" : "\(folder("XDG_DATA_HOME", "\(home)/.local/share"))/quickconnect"
        )
        config = "\(owners)/quickconnectd.yaml"
        socket =
            isRoot
            ? "/run/quickconnect/quickconnect.sock"
            : "\(folder("XDG_RUNTIME_DIR", "/run/user/\(getuid())"))/quickconnect.sock"
        mappings = ["\(shared)/mappings", "\(owners)/mappings"]
        scripts = "\(owners)/scripts"
        macros = "\(owners)/macros"
        shippedMacros = "\(shared)/macros"
        pages = "\(owners)/pages"
        shippedPages = "\(shared)/pages"
        templates = "\(shared)/templates"
        procedures = "\(owners)/procedures"
        syncToken = "\(owners)/sync.token"
        shippedProcedures = "\(shared)/procedures"
        actionView = "\(shared)/action-view"
        let kept = "/var/lib/quickconnect-actions"
        let own = isRoot && environment["STATE_DIRECTORY"] == nil ? kept : "\(state)/actions"
        actionStates = (isRoot ? own : kept, own)
        actions = (
            isRoot ? nil : "\(owners)/actions", "\(isRoot ? owners : "/etc/quickconnect")/actions", "\(shared)/actions"
        )
        sounds = "\(shared)/sounds"
        track = "\(shared)/tracks/westminster.json"
        motionTrack = "\(shared)/tracks/in-the-hand.json"
    }

    /// Those of this process, whoever runs it.
    package init(_ environment: [String: String] = OwnProcess.environment, service: String = "quickconnect") {
        self.init(isRoot: geteuid() == 0, environment: environment, program: OwnProcess.program, service: service)
    }

    /// The folder of shipped files: `share/quickconnect` under the program's installation prefix, the checkout in which
    /// it was built, or `/usr/share/quickconnect`.
    private static func shared(_ program: String) -> String {
        let parents = program.split(separator: "/").dropLast()
        let prefix = parents.dropLast().map { "/\($0)" }.joined()
        let checkout = parents.prefix { !$0.hasPrefix(".build") }.map { "/\($0)" }.joined()
        let candidates = ["\(prefix)/share/quickconnect"] + (checkout.count < program.count ? [checkout] : [])
        return candidates.first { FileText.exists("\($0)/mappings/daemon.yaml") } ?? "/usr/share/quickconnect"
    }

    /// Where values are kept over restarts: beside the media folder, in the state directory.
    package static func values(beside media: String) -> String { file("values.json", beside: media) }

    /// Where what is known of schedules is kept: beside the values.
    package static func schedules(beside media: String) -> String { file("schedules.json", beside: media) }

    package static func programs(beside media: String) -> String { file("programs.json", beside: media) }

    private static func file(_ name: String, beside media: String) -> String {
        "\(simulated(beside: media).dropLast("simulated".count))\(name)"
    }

    /// Where simulated sound goes: a folder beside the media folder.
    package static func simulated(beside media: String) -> String {
        let trimmed = trimmed(media)
        guard let slash = trimmed.lastIndex(of: "/") else { return "simulated" }
        return "\(trimmed[..<slash])/simulated"
    }

    /// The index of the owners of media files: `media.owners` beside `media`.
    package static func owners(beside media: String) -> String { "\(trimmed(media)).owners" }

    private static func trimmed(_ folder: String) -> String {
        folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    }
}
