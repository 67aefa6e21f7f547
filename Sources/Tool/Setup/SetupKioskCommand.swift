import ArgumentParser
import CommandLineText
import Configuration
import Glibc
import JSON
import Linux
import QuickConnect

struct SetupKioskCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kiosk",
        abstract: "A page on the whole screen, from power-on.",
        discussion: """
            With sudo: on a machine without a desktop, on its first console, instead of the log-in there. Without sudo: in \
            your own session, at each log-in. Without a page, it shows those of your own settings.
            """
    )

    @OptionGroup var options: SetupOptions

    @Option(
        help: ArgumentHelp("The monitor: its connector, as HDMI-1, or its number from the left.", valueName: "NAME")
    )
    var monitor: String?

    @Argument(
        help: ArgumentHelp(
            "The page: a folder with an index.html, an HTML file, or an address.",
            valueName: "FOLDER|FILE|ADDRESS"
        )
    )
    var page: String?

    private static let program = "quickconnect-kiosk"
    private static let unit = "quickconnect-kiosk.service"

    func run() throws {
        let place = try SetupPlace(options, "kiosk", isForUsers: true)
        if options.undo { return try undo(place) }
        let isConsole = place.units != nil && geteuid() == 0
        try checkPrograms(place, isConsole: isConsole)
        let page = try chosenPage(place, isConsole: isConsole)
        var files = files(place, page, isConsole: isConsole)
        _ = try files.write(at: place)
        guard let units = place.units else { return try finishByHand(place) }
        try units.run("enable", Self.unit)
        try units.run("restart", Self.unit)
        try awaitWindow()
    }

    // MARK: What must be there

    /// The page to write; nil where the owner's own settings have what is shown.
    private func chosenPage(_ place: SetupPlace, isConsole: Bool) throws -> String? {
        let flags: Settings.Overrides = [.config: place.config]
        let kiosk = Settings.read(flags: flags, environment: [:], folders: StandardFolders()).settings.kiosk
        if let page {
            guard kiosk.pages.isEmpty else {
                let remedy = "«quickconnect setup kiosk» alone shows them"
                throw ExitError(message: "the settings have 'pages' of a kiosk already; \(remedy)")
            }
            return try checked(page, isConsole: isConsole)
        }
        let isOwn = kiosk.pageLocation?.file == Self.file(place)
        let declared = kiosk.pages.map(\.open) + (isOwn ? [] : [kiosk.page].compactMap(\.self))
        guard !declared.isEmpty else {
            let problem = "the settings have no 'page' or 'pages' of a kiosk, or a mistake («quickconnectd --check»)"
            throw ValidationError("FOLDER or ADDRESS is missing: \(problem).")
        }
        for page in declared { _ = try checked(page, isConsole: isConsole) }
        return nil
    }

    private func checked(_ text: String, isConsole: Bool) throws -> String {
        if text.hasPrefix("http://") || text.hasPrefix("https://") { return text }
        let path = Folders.absolute(text)
        let isFile = path.hasSuffix(".html")
        let folder = isFile ? Folders.parent(of: path) ?? "/" : path
        let index = isFile ? path : "\(path)/index.html"
        guard FileText.exists(index) else {
            throw ExitError(
                message: "\(index) is missing: the page is a folder with an index.html, an HTML file, or an address"
            )
        }
        let user = "quickconnect-kiosk"
        if isConsole, Program.run("runuser", ["-u", user, "--", "test", "-r", index])?.status != 0 {
            let message =
                "the window's user, \(user), cannot read \(index): «chmod -R a+rX \(folder.shellWord)», and the folders above"
            throw ExitError(message: message)
        }
        return path
    }

    private func checkPrograms(_ place: SetupPlace, isConsole: Bool) throws {
        try OwnPrograms.require(Self.program)
        guard isConsole else { return }
        guard Program.isInPath("startx"), Program.isInPath("X") else {
            throw ExitError(message: "an X server is missing: «sudo apt install xserver-xorg xinit»")
        }
        if place.units?.isActive("display-manager.service") == true {
            let words = (["quickconnect setup kiosk"] + [page].compactMap { $0?.shellWord }).joined(separator: " ")
            let message = """
                a desktop has the screen (display-manager.service). As the user who logs in there, without sudo: \
                «\(words)»; or switch the desktop off: «sudo systemctl disable --now \
                display-manager.service».
                """
            throw ExitError(message: message)
        }
    }

    private func files(_ place: SetupPlace, _ page: String?, isConsole: Bool) -> SetupFiles {
        var lines = ["kiosk:", "  fullScreen: true"]
        if let page { lines.insert("  page: \(JSONValue.string(page).text)", at: 1) }
        if let monitor { lines.append("  monitor: \(JSONValue.string(monitor).text)") }
        // Nobody with a keyboard leaves a kiosk that has nothing beside it.
        if isConsole { lines += ["  cursor: false", "  leaveKey: none"] }
        var files = SetupFiles("kiosk")
        files.add(Self.file(place), lines.joined(separator: "\n"))
        return files
    }

    private static func file(_ place: SetupPlace) -> String { "\(place.folder)/settings.d/setup-kiosk.yaml" }

    // MARK: Whether it works

    private func finishByHand(_ place: SetupPlace) throws {
        guard try state() == nil else { return try awaitWindow() }
        say("Open the window, and then say this once more to check it: «quickconnect-kiosk --config \(place.config)»")
    }

    /// What the window says of itself; nil while there is none.
    private func state() throws -> JSONObject? {
        do {
            return try options.connection.call("kiosk", ["state"]).objectValue
        } catch let error as ExitError where error.code == "unavailable" || error.status == 3 {
            return nil
        }
    }

    private func awaitWindow() throws {
        let end = options.connection.deadline ?? .now + .seconds(30)
        var last: JSONObject?
        while ContinuousClock.now < end {
            do { last = try state() } catch let error as ExitError where error.code == "denied" {
                return say("The window is started. Whether it shows the page only root may ask here.")
            }
            if let last, last["isLoading"] == .bool(false), last["problem"] ?? .null == .null { return report(last) }
            usleep(200_000)
        }
        let problem = last?["problem"]?.stringValue.map { ": \($0)" } ?? ""
        let message = last == nil ? "no window answers" : "the window does not show the page\(problem)"
        throw ExitError(message: "\(message); «journalctl -u quickconnect-kiosk» says more")
    }

    private func report(_ state: JSONObject) {
        let title = state["title"]?.stringValue ?? ""
        let monitor = state["monitor"]?.objectValue.map { monitor in
            " on the monitor \(monitor["name"]?.stringValue ?? "")"
        }
        say("Checked: the window shows \(title.isEmpty ? "the page" : "«\(title)»")\(monitor ?? "").")
    }

    private func undo(_ place: SetupPlace) throws {
        guard try !files(place, nil, isConsole: false).remove().isEmpty else {
            return say("There is no set-up of a kiosk here.")
        }
        guard let units = place.units else { return say("Close the window, if it is open.") }
        try units.run("disable", "--now", Self.unit)
    }
}
