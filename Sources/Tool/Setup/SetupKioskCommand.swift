import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux

struct SetupKioskCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kiosk",
        abstract: "A page on the whole screen, from power-on.",
        discussion: """
            With sudo: on a machine without a desktop, on its first console, instead of the log-in there. Without sudo: in \
            your own session, at each log-in.
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

    func validate() throws {
        guard options.undo || page != nil else { throw ValidationError("FOLDER or ADDRESS is missing.") }
    }

    func run() throws {
        let place = try SetupPlace(options, "kiosk", isForUsers: true)
        if options.undo { return try undo(place) }
        let isConsole = place.units != nil && geteuid() == 0
        try checkPrograms(place, isConsole: isConsole)
        let page = try checkedPage(isConsole: isConsole)
        var files = files(place, page, isConsole: isConsole)
        _ = try files.write(at: place)
        guard let units = place.units else { return try finishByHand(place) }
        try units.run("enable", Self.unit)
        try units.run("restart", Self.unit)
        try awaitWindow()
    }

    // MARK: What must be there

    private func checkedPage(isConsole: Bool) throws -> String {
        let text = page ?? ""
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
            let message = """
                a desktop has the screen (display-manager.service). As the user who logs in there, without sudo: \
                «quickconnect setup kiosk \((page ?? "").shellWord)»; or switch the desktop off: «sudo systemctl disable --now \
                display-manager.service».
                """
            throw ExitError(message: message)
        }
    }

    private func files(_ place: SetupPlace, _ page: String?, isConsole: Bool) -> SetupFiles {
        var lines = ["kiosk:", "  page: \(JSONValue.string(page ?? "").text)", "  fullScreen: true"]
        if let monitor { lines.append("  monitor: \(JSONValue.string(monitor).text)") }
        // Nobody with a keyboard leaves a kiosk that has nothing beside it.
        if isConsole { lines += ["  cursor: false", "  leaveKey: none"] }
        var files = SetupFiles("kiosk")
        files.add("\(place.folder)/settings.d/setup-kiosk.yaml", lines.joined(separator: "\n"))
        return files
    }

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
