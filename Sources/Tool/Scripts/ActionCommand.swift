import Actions
import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Layout
import Linux
import QuickConnect

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

extension ActionDesk {
    /// The actions of this user. This object does not decide what they may call.
    static var ofUser: ActionDesk {
        let folders = StandardFolders(
            isRoot: geteuid() == 0,
            environment: OwnProcess.environment,
            program: OwnProcess.program
        )
        return ActionDesk(ActionFolders(folders), ActionState(folders), commands: [])
    }
}

extension ExitError {
    init(_ error: CommandError) { self.init(message: "\(error.code.rawValue): \(error.message)", status: 1) }
}

/// The actions of this user, for the shell's completion.
enum ActionNames {
    static func forCompletion() -> [String] { ActionDesk.ofUser.folders.files().files.map(\.name) }
}

struct ActionListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the actions: origin, and the sites on which each is allowed."
    )

    @Flag(help: "Print JSON, for programs.")
    var json = false

    func run() throws {
        let (actions, problems) = ActionDesk.ofUser.list()
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

    private static func words(_ action: ActionDesk.Entry) -> String {
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

    @Argument(help: "The action.", completion: .custom { _, _, _ in ActionNames.forCompletion() })
    var name: String

    @Argument(help: ArgumentHelp("The site: \(Site.expectation).", valueName: "SITE"))
    var site: String

    func run() throws {
        let site = try Site.parse(site)
        let desk = ActionDesk.ofUser
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

    @Argument(help: "The action.", completion: .custom { _, _, _ in ActionNames.forCompletion() })
    var name: String

    @Argument(help: ArgumentHelp("The site, as list shows it; without one, all.", valueName: "SITE"))
    var site: String?

    func run() throws {
        let site = try site.map(Site.parse)
        let desk = ActionDesk.ofUser
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
