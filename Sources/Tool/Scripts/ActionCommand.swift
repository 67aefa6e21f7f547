import Actions
import ArgumentParser
import CommandLineText
import JSON
import Linux
import QuickConnect
import QuickConnectClient

struct ActionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "action",
        abstract: "Lists, allows, runs and edits actions: scripts that a user runs in the current page.",
        discussion: """
            An action only runs on sites where it is allowed. Rules of root apply to everybody, your rules to you.

            Examples:
              quickconnect action list
              quickconnect action enable page-title https://example.org
              quickconnect action enable view-source qc://app   on the pages of the window's own folder
              quickconnect action run page-title                in the page that the window shows
              quickconnect action disable page-title            on all sites
              quickconnect action edit shout                    in $EDITOR; a new name creates a new action
            """,
        subcommands: [
            ActionListCommand.self, ActionEnableCommand.self, ActionDisableCommand.self, ActionRunCommand.self,
            ActionEditCommand.self,
        ]
    )
}

extension ActionLibrary {
    /// The actions of this user. This object does not decide what they may call.
    static var ofUser: ActionLibrary {
        let folders = StandardFolders()
        return ActionLibrary(ActionFolders(folders), ActionState(folders), commands: [])
    }
}

extension ExitError {
    init(_ error: CommandError) { self.init(message: "\(error.code.rawValue): \(error.message)") }
}

struct ActionListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the actions: origin, and the sites on which each is allowed."
    )

    @Flag(help: "Print JSON, for programs.")
    var json = false

    func run() throws {
        let (actions, problems) = ActionLibrary.ofUser.list()
        guard !json else {
            let list: JSONObject = [
                "actions": .array(actions.map { .object($0.json) }), "problems": .array(problems.map(JSONValue.string)),
            ]
            return say(JSONValue.object(list).text)
        }
        let rows = actions.map { [$0.name, Self.words($0)] }
        say(rows.isEmpty ? "There are no actions." : Table.text(rows, width: Terminal.width))
        for problem in problems { say("warning: \(problem)") }
    }

    private static func words(_ action: ActionLibrary.Entry) -> String {
        let place =
            switch action.file.place {
            case .user: "yours"
            case .configuration: "the owner's"
            case .shipped: "shipped"
            }
        if let problem = action.problem { return "\(place); it does not run: \(action.file.path) \(problem)" }
        let sites = action.sites.map(\.description).joined(separator: ", ")
        return "\(place); \(sites.isEmpty ? "off" : "on: \(sites)")"
    }
}

struct ActionEnableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Allows an action on a site.",
        discussion: """
            A site is an address without a path. With *. before the host it is all hosts below it, too; * is all of the Web. \
            The pages of the window's own folder are qc://app.
            """
    )

    @Argument(help: "The action.", completion: Completion.action)
    var name: String

    @Argument(help: ArgumentHelp("The site: \(Site.expectation).", valueName: "SITE"))
    var site: String

    func run() throws {
        let site = try Site.parse(site)
        let desk = ActionLibrary.ofUser
        do throws(CommandError) {
            let file = try desk.file(name)
            if let problem = FileTrust.problem(of: file.path) { throw CommandError(.denied, "\(file.path) \(problem)") }
            let rule = AllowedActions.Rule(action: name, site: site)
            let isNew = try desk.state.changeRules { $0.add(rule) }
            say(isNew ? "\(name) may run on \(site) now." : "\(name) may run on \(site) already.")
        } catch {
            throw ExitError(error)
        }
    }
}

extension Site {
    static func parse(_ text: String) throws -> Site {
        guard let site = Site(text) else { throw ValidationError("'\(text)' is not a site: \(expectation)") }
        return site
    }
}

struct ActionDisableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Removes the permission of an action for one site, or for all."
    )

    @Argument(help: "The action.", completion: Completion.action)
    var name: String

    @Argument(help: ArgumentHelp("The site, as list shows it; without one, all.", valueName: "SITE"))
    var site: String?

    func run() throws {
        let site = try site.map(Site.parse)
        let desk = ActionLibrary.ofUser
        do throws(CommandError) {
            let gone = try desk.state.changeRules { $0.remove(name, site) }
            let left = desk.state.rules().all.sites(of: name).filter { site == nil || $0 == site }
            if let kept = left.first {
                throw CommandError(
                    .denied,
                    "root has allowed \(name) on \(kept): «sudo quickconnect action disable \(name)»"
                )
            }
            let sites = gone.map(\.site.description).joined(separator: ", ")
            say(gone.isEmpty ? "\(name) was not allowed there." : "\(name) may not run on \(sites) any more.")
        } catch {
            throw ExitError(error)
        }
    }
}

struct ActionRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs an action in the page that the window shows, and waits until it ends.",
        discussion: """
            If the action has an editor, it waits until the user presses Done or Cancel. It prints the result: a text, or the \
            title and address of the page.
            """
    )

    @OptionGroup var output: AnswerOptions

    @Argument(help: "The action.", completion: Completion.action)
    var name: String

    func run() throws {
        let result = try output.connection.result(of: "action", ["run", .string(name)])
        guard let answer = output.forPeople(try result.mapError(Self.end).get()) else { return }
        say(Self.words(answer))
    }

    private static func words(_ answer: JSONValue) -> String {
        let results = answer.objectValue?["NSExtensionJavaScriptPreprocessingResultsKey"]?.objectValue ?? [:]
        if let text = results["text"]?.stringValue { return text }
        let page = ["title", "URL"].compactMap { results[$0]?.stringValue }.filter { !$0.isEmpty }
        return page.isEmpty ? "Done." : "Done: \(page.joined(separator: ", "))"
    }

    private static func end(_ error: ErrorReply) -> ExitError {
        let fix =
            Program.isInstalled("quickconnect-kiosk")
            ? "no window is open; start it with «quickconnect-kiosk»" : Program.missing("quickconnect-kiosk")
        // An action's `source` says whether Action.js or a typed script failed; the line is `text`.
        var placed = error
        placed.members["file"] = error.members["file"] ?? error.members["source"]
        placed.members["source"] = error.members["text"]
        return ExitError(placed, unanswered: "unavailable: \(fix)")
    }
}
