import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux
import QuickConnect

struct SetupHomeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "home",
        abstract: "Pages in browsers, for the people who live with this device.",
        discussion: """
            Switches the pages on, adds a person, and on a terminal prints an address, also as a QR code, that logs one \
            browser in. That person, web:NAME of the group web:home, may call everything that pages may have, but not \
            reload, data, simulate, nor manage users, nor run JavaScript in the kiosk's window.

            Say it again with another --name to add another person.
            """
    )

    @OptionGroup var options: SetupOptions

    @Option(help: ArgumentHelp("The person's name: web:NAME in rules (default: yours).", valueName: "NAME"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "Open the pages to the network of this interface, such as eth0; none: to this device only. Without it, asks.",
            valueName: "INTERFACE"
        )
    )
    var network: String?

    @Flag(
        help: """
            While you write pages: they reload as their files change, and show what the device refuses. Without it, they do \
            not any more.
            """
    )
    var watch = false

    func run() throws {
        let place = try SetupPlace(options, "home", isForUsers: false)
        let plan = HomePlan(place, socket: options.connection.socket, watches: watch)
        if options.undo { return try undo(plan, place) }
        let name = try person()
        let earlier = plan.earlierNetwork
        let network = try chosenNetwork(plan)
        var files = plan.files(network)
        let hasChanged = try files.write(at: place)
        do {
            if let units = place.units, hasChanged || !units.isActive(Self.socket) { try start(units) }
        } catch {
            // So that the same once more is the whole of it.
            try files.takeBack()
            throw error
        }
        if let network { say(network.warning) }
        if let earlier, network?.interface != earlier { say("The pages are no longer open to \(earlier).") }
        if place.units == nil, !options.connection.isAnswered || !hasGateway {
            say(plan.byHand)
            guard !hasChanged else { return }
            let attempts = options.connection.attempts
            throw ExitError(
                message: attempts.isEmpty ? "no gateway answers" : "no daemon answers: \(attempts)",
                status: 3
            )
        }
        if !HomePlan.isRead(try options.connection.explained("kiosk")?["locations"]) {
            let folder = place.mappings.map { "does not read the mappings in \($0)" }
            let lack = folder ?? "reads the shipped mappings alone"
            say("The daemon that answers \(lack): pages may not use the kiosk's window.")
        }
        try addPerson(name)
        try visit(name, network)
        try logIn(name, network)
    }

    // MARK: What is asked

    private func person() throws -> String {
        let own = OwnProcess.environment["SUDO_USER"] ?? Self.userName
        var name = name
        if name == nil, SetupQuestion.isPossible { name = SetupQuestion.ask("Who will use the pages? [\(own)]") }
        let chosen = name ?? own
        guard GatewayName.isValid(chosen) else {
            throw ExitError(
                message: "a person's name has \(GatewayName.expectation), not '\(chosen)'",
                status: ExitError.usageStatus
            )
        }
        return chosen
    }

    private static var userName: String { getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "home" }

    private func chosenNetwork(_ plan: HomePlan) throws -> LocalNetwork? {
        let all = LocalNetwork.all
        let names = all.map(\.interface).joined(separator: ", ")
        func find(_ name: String) throws -> LocalNetwork {
            guard let found = all.first(where: { $0.interface == name }) else {
                let message = "no network at '\(name)': this device is at \(names.isEmpty ? "none" : names)"
                throw ExitError(message: message, status: ExitError.usageStatus)
            }
            return found
        }
        if let network { return network == "none" ? nil : try find(network) }
        let earlier = all.first { $0.interface == plan.earlierNetwork }
        guard SetupQuestion.isPossible, let first = earlier ?? all.first else { return earlier }
        say(first.warning)
        let question = "Open the pages to \(first.interface), \(first.subnet)?"
        return SetupQuestion.confirm(question, isYes: earlier != nil) ? first : nil
    }

    // MARK: What is done

    private static let socket = "quickconnect-web.socket"

    private func start(_ units: SystemdUnits) throws {
        try OwnPrograms.require(WebService.program)
        try units.run("daemon-reload")
        try units.run("enable", Self.socket)
        // A socket of a service that runs cannot be opened anew.
        try units.run("stop", "quickconnect-web.service")
        try units.run("restart", Self.socket)
        try units.run("restart", "quickconnectd.service")
    }

    /// Whether a gateway answers that was started by hand.
    private var hasGateway: Bool { (try? options.connection.web(["state"])) != nil }

    private func addPerson(_ name: String) throws {
        let users = try options.connection.web(["list"]).arrayValue ?? []
        let known = users.first { $0.objectValue?["name"]?.stringValue == name }
        guard let groups = known?.objectValue?["groups"]?.arrayValue else {
            _ = try options.connection.web(["add", .string(name), ["groups": [.string(HomePlan.group)]]])
            return say("web:\(name) is a person of the group web:\(HomePlan.group).")
        }
        guard groups.contains(.string(HomePlan.group)) else {
            let message = """
                there is a user web:\(name) already, who is not in the group web:\(HomePlan.group). Take another --name, or \
                remove that user («quickconnect web user remove \(name)»).
                """
            throw ExitError(message: message)
        }
    }

    /// Shows that it works: in a browser's way, to the end.
    private func visit(_ name: String, _ network: LocalNetwork?) throws {
        guard let visit = PageVisit(Self.at(network, try link(name))) else {
            return say("The pages are behind a proxy, so that they were not tried from here.")
        }
        try visit.check()
        say("Checked: web:\(name) can log in at \(visit.address), and the page reaches the daemon.")
    }

    private func logIn(_ name: String, _ network: LocalNetwork?) throws {
        guard isatty(STDOUT_FILENO) == 1 else {
            return say(
                """
                «quickconnect web user link \(name)» prints an address that logs a browser in. It is not printed here, because \
                this is no terminal, and whoever reads a log could use it.
                """
            )
        }
        let address = Self.at(network, try link(name))
        say("Open this address within two minutes. It logs one browser in, once:\n\n  \(address)\n")
        if network != nil { QRCode(address)?.show() }
        say("For another browser: «quickconnect web user link \(name)».")
    }

    /// The address as that network knows it.
    private static func at(_ network: LocalNetwork?, _ link: String) -> String {
        network.map { LoginAddress.replacingHost(of: link, by: $0.address) } ?? link
    }

    private func link(_ name: String) throws -> String {
        try options.connection.web(["link", .string(name)]).objectValue?["address"]?.stringValue ?? ""
    }

    // MARK: Back again

    private func undo(_ plan: HomePlan, _ place: SetupPlace) throws {
        // Users of the group may be somebody's without a set-up, too.
        guard plan.files(nil).isThere else { return say("There is no set-up of a home here.") }
        if let users = try? options.connection.web(["list"]) {
            for name in HomePlan.people(users) {
                _ = try options.connection.web(["remove", .string(name)])
                say("web:\(name) is removed.")
            }
        } else if case let left = plan.peopleOnDisk, !left.isEmpty {
            // Without these files no gateway could be started that removes them.
            let names = left.map { "web:\($0)" }.joined(separator: ", ")
            let start = place.units == nil ? "start it" : "start it («systemctl start quickconnect-web»)"
            throw ExitError(
                message: "\(names) could not be removed, because no gateway answers: \(start), and say --undo again"
            )
        }
        _ = try plan.files(nil).remove()
        guard let units = place.units else {
            return say("Start the daemon and quickconnect-web again, or end them.")
        }
        try units.run("disable", "--now", Self.socket)
        try units.run("stop", "quickconnect-web.service")
        try units.run("daemon-reload")
        try units.run("restart", "quickconnectd.service")
    }
}

extension LocalNetwork {
    /// What everybody there can see.
    fileprivate var warning: String {
        """
        Whoever is in the network \(subnet) and listens can read what the pages show, and take over a log-in, because \
        nothing there is encrypted.
        """
    }
}
