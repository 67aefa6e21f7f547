import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux
import QuickConnect
import QuickConnectClient

struct WebCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Manages log-ins to the pages of this device, which quickconnect-web serves.",
        discussion: """
            Examples:
              quickconnect web open                    an address that logs one browser in, once, within two minutes
              quickconnect web user add ann --group staff
              quickconnect web sessions                who is logged in
              quickconnect web sessions end ann        logs ann out everywhere
              quickconnect web state                   who holds how much of the gateway

            Pages are off until the owner enables them: docs/web.md, quickconnect-web(8).
            """,
        subcommands: [WebOpenCommand.self, WebUserCommand.self, WebSessionsCommand.self, WebStateCommand.self]
    )
}

struct WebUserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Adds, lists and removes the users of pages, who log in with a token.",
        subcommands: [
            WebUserAddCommand.self, WebUserLinkCommand.self, WebUserListCommand.self, WebUserRemoveCommand.self,
        ]
    )
}

extension ConnectionOptions {
    /// One call of `web`. If systemd starts the gateway on demand, it is started.
    func web(_ parameters: [JSONValue]) throws -> JSONValue {
        let patience = ContinuousClock.now + Self.startTime
        var hasStarted = false
        while true {
            switch try result(of: "web", parameters) {
            case .success(let value): return value
            case .failure(let error):
                guard error.isWithoutGateway else { throw ExitError(error) }
                guard Program.isInstalled(WebService.program) else { throw ExitError.noWebPackage }
                if !hasStarted { hasStarted = WebService.start() }
                guard hasStarted, ContinuousClock.now < patience else { throw ExitError.noGateway }
                usleep(50_000)
            }
        }
    }

    private static let startTime = Duration.seconds(10)
}

extension ErrorReply {
    /// Whether no gateway answers, or none is installed, not even the command's mapping.
    fileprivate var isWithoutGateway: Bool {
        code == "unavailable" && message.contains("no client has registered")
            || code == "unknownCommand" && !Program.isInstalled(WebService.program)
    }
}

extension ExitError {
    fileprivate static let noGateway = ExitError(
        message: """
            unavailable: no gateway for pages is running. Where it is installed with its units, docs/web.md (section \
            Set-up) says how to switch it on; else start quickconnect-web.
            """
    )

    fileprivate static let noWebPackage = ExitError(message: "unavailable: \(Program.missing(WebService.program))")
}

/// The service that systemd starts when the first browser comes.
enum WebService {
    static let program = "quickconnect-web"

    /// - Returns: whether it is running now. If its socket is disabled, it is not started.
    static func start() -> Bool {
        guard geteuid() == 0, ServiceManager.isRunning,
            Program.output(of: "systemctl", ["is-active", "quickconnect-web.socket"]) == "active\n"
        else { return false }
        _ = Program.output(of: "systemctl", ["start", "quickconnect-web.service"])
        return Program.output(of: "systemctl", ["is-active", "quickconnect-web.service"]) == "active\n"
    }
}

struct WebOpenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Prints an address that logs one browser in, once, within two minutes.",
        discussion: """
            The page then acts as web:NAME, with your user name. After the log-in it is PAGE, such as state.html, else the first page.
            """
    )

    @OptionGroup var output: AnswerOptions

    @Argument(help: ArgumentHelp("A page of this device, relative to its first one.", valueName: "PAGE"))
    var page: String?

    func run() throws {
        let query = try page.map { "?next=\(PercentEncoding.encode(try Self.relative($0)))" } ?? ""
        var answer = try output.connection.web(["open"] + (page.map { [.string($0)] } ?? []))
        // The code is in the fragment, which stays last.
        if var members = answer.objectValue, let address = members["address"]?.stringValue {
            let parts = address.split(separator: "#", maxSplits: 1)
            members["address"] = .string("\(parts[0])\(query)\(parts.count > 1 ? "#\(parts[1])" : "")")
            answer = .object(members)
        }
        say(output.json ? answer.text : answer.objectValue?["address"]?.stringValue ?? "")
    }

    /// As an address that cannot lead elsewhere, whatever browsers make of it.
    private static func relative(_ page: String) throws -> String {
        let path = page.prefix { !"?#".contains($0) }
        let isOutside = path.hasPrefix("/") || path.contains("\\") || path.split(separator: "/").contains("..")
        let isPage = !page.isEmpty && !isOutside && !path.prefix { $0 != "/" }.contains(":")
        let isText = page.utf8.count <= 1000 && page.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
        guard isPage, isText else {
            let expected = "expected a page of this device, relative to the first one, such as state.html"
            throw ExitError(
                message: "\(expected); got '\(page.shortened.escapingControls)'",
                status: ExitError.usageStatus
            )
        }
        return "./\(page)"
    }
}

struct WebUserAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds a user and prints the token, which is not stored.",
        discussion: "An existing user gets a new token and these groups, and is logged out; standard error says so."
    )

    @OptionGroup var connection: ConnectionOptions

    @Option(name: .customLong("group"), help: ArgumentHelp("A group: web:G in rules.", valueName: "G"))
    var groups: [String] = []

    @Argument(help: "The name: web:NAME in rules.")
    var name: String

    func run() throws {
        for word in [name] + groups where word.hasPrefix("web:") {
            throw ValidationError("'\(word)' is what rules say; here it is «\(word.dropFirst(4))».")
        }
        let options: JSONValue = ["groups": .array(groups.map { .string($0) })]
        let answer = try connection.web(["add", .string(name), options])
        if let before = answer.objectValue?["replaced"]?.objectValue {
            let left = (before["groups"]?.arrayValue ?? []).compactMap(\.stringValue).filter { !groups.contains($0) }
            let lost = left.isEmpty ? "" : ", and \(name) is no longer in \(left.joined(separator: ", "))"
            note("web:\(name) was a user already: the token of before and its log-ins have ended\(lost)")
        }
        // A comma is legal in a name.
        for group in groups where group.contains(",") {
            let each = group.split(separator: ",").map { "--group \($0)" }.joined(separator: " ")
            note("'\(group)' is one group; if several are meant, one --group for each: \(each)")
        }
        say(answer.objectValue?["token"]?.stringValue ?? "")
    }
}

struct WebUserLinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Prints an address that logs one browser in as a user, once, within two minutes.",
        discussion: "On a terminal also as a QR code, for a telephone."
    )

    @OptionGroup var output: AnswerOptions

    @Argument(help: "The name, without web:.")
    var name: String

    func run() throws {
        guard let answer = output.forPeople(try output.connection.web(["link", .string(name)])) else { return }
        let address = LoginAddress.forOthers(answer.objectValue?["address"]?.stringValue ?? "")
        say(address)
        QRCode(address)?.show()
    }
}

struct WebUserListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists the users with their groups.")

    @OptionGroup var output: AnswerOptions

    func run() throws {
        guard let answer = output.forPeople(try output.connection.web(["list"])) else { return }
        let rows = (answer.arrayValue ?? []).compactMap(\.objectValue).map { user in
            let groups = (user["groups"]?.arrayValue ?? []).compactMap(\.stringValue).map { "web:\($0)" }
            return ["web:\(user["name"]?.stringValue ?? "")", groups.joined(separator: " ")]
        }
        say(
            rows.isEmpty
                ? "There are no users; «quickconnect web user add NAME» adds one."
                : Table.text(rows, width: Terminal.width)
        )
    }
}

struct WebUserRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes a user, and ends the user's sessions and open pages, also those by «web open»."
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The name, without web:.")
    var name: String

    func run() throws { _ = try connection.web(["remove", .string(name)]) }
}

/// Addresses that log a browser in.
enum LoginAddress {
    private static let scheme = "http://"

    static func authority(of link: String) -> Substring { link.dropFirst(scheme.count).prefix { $0 != "/" } }

    /// The same with another name of this device; one behind a proxy stays as it is.
    static func replacingHost(of link: String, by host: String) -> String {
        let authority = authority(of: link)
        guard link.hasPrefix(scheme), let colon = authority.lastIndex(of: ":") else { return link }
        return "\(scheme)\(host)\(authority[colon...])\(link.dropFirst(scheme.count + authority.count))"
    }

    /// The same for browsers elsewhere: `localhost` stands for a gateway that listens on all interfaces.
    static func forOthers(_ link: String) -> String {
        guard authority(of: link).hasPrefix("localhost:"), let network = LocalNetwork.all.first else { return link }
        return replacingHost(of: link, by: network.address)
    }
}
