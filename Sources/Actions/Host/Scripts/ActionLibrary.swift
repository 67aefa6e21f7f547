package import JSON
internal import Linux
package import QuickConnect
package import SyntaxChecking

/// The actions of this device, and which of them may run where. Every program that runs actions uses this. Files are
/// read again each time.
package struct ActionLibrary: Sendable {
    package let folders: ActionFolders
    package let state: ActionState
    /// The commands that actions may call.
    package let commands: Set<String>

    /// - Parameter commands: the setting `actions: commands`.
    package init(_ folders: ActionFolders, _ state: ActionState, commands: Set<String>) {
        self.folders = folders
        self.state = state
        self.commands = commands
    }

    /// An action in a list.
    package struct Entry: Sendable {
        package let file: ActionFolders.File
        /// Where it is allowed.
        package let sites: [Site]
        /// Why it cannot run, in words.
        package let problem: String?

        package var name: String { file.name }

        /// {"name", "from", "file", "sites", "shadows"?, "problem"?}
        package var json: JSONObject {
            JSONObject(present: [
                "name": .string(name), "from": .string(file.place.rawValue), "file": .string(file.path),
                "sites": .array(sites.map { .string($0.description) }),
                "shadows": file.shadows.isEmpty ? nil : .array(file.shadows.map(JSONValue.string)),
                "problem": problem.map(JSONValue.string),
            ])
        }
    }

    /// All actions, sorted by the bytes of their names, and problems of their files, in words.
    package func list() -> (actions: [Entry], problems: [String]) {
        let (files, problems) = folders.files()
        let (rules, unread) = state.rules()
        let entries = files.map {
            Entry(file: $0, sites: rules.sites(of: $0.name), problem: FileTrust.problem(of: $0.path))
        }
        return (entries, problems + unread)
    }

    /// The text of an action that may run on a page.
    /// - Parameter page: nil for one without an origin, such as `about:blank`, where no action runs.
    package func text(of name: String, on page: WebOrigin?) throws(CommandError) -> String {
        let file = try file(name)
        try checkIsAllowed(name, on: page)
        if let problem = FileTrust.problem(of: file.path) {
            throw CommandError(.denied, "\(file.path) \(problem): it is not run")
        }
        return try file.text().mapError { CommandError(.unavailable, "\(file.path) \($0.message)") }.get()
    }

    package func file(_ name: String) throws(CommandError) -> ActionFolders.File {
        if let file = folders.file(name) { return file }
        let question = NearestNames.question(name, among: folders.files().files.map(\.name))
        throw CommandError(.notFound, "there is no action '\(name.prefix(100))'\(question)")
    }

    /// The path of its Action.js; throws `notFound`.
    package func path(of name: String) throws(CommandError) -> String { try file(name).path }

    @discardableResult
    package func checkIsAllowed(_ name: String, on page: WebOrigin?) throws(CommandError) -> WebOrigin {
        guard let page else { throw CommandError(.denied, "no action can run on this page: it has no site") }
        guard !state.rules().all.allows(name, on: page) else { return page }
        let remedy = "«quickconnect action enable \(name) \(page)» allows it"
        throw CommandError(.denied, "the action '\(name.prefix(100))' is not allowed on \(page); \(remedy)")
    }

    /// Throws if a text is longer than anybody would write.
    /// - Parameter what: the kind of text, for the error.
    package static func checkLength(of text: String, _ what: String) throws(CommandError) {
        guard text.utf8.count > ActionFolders.maximumBytes else { return }
        throw CommandError(.tooLarge, "\(what) has more than \(ActionFolders.maximumBytes >> 10) KiB")
    }

    /// Whether an action that may run on a page may call a command from there.
    package func checkMayCall(_ command: String, _ action: String, on page: WebOrigin?) throws(CommandError) {
        try checkIsAllowed(action, on: page)
        guard !commands.contains(command) else { return }
        let rule = "actions may call \(commands.sorted().joined(separator: ", "))"
        throw CommandError(
            .denied,
            "'\(command.prefix(128))' is not listed: \(rule) (actions: commands in the settings)"
        )
    }
}

extension CheckVerdict {
    /// The first mistake in a script of an action, {message, line?, column?, source?}; nil if there is none.
    /// - Throws: if it could not be checked.
    package func mistake() throws(CommandError) -> JSONObject? {
        switch self {
        case .valid: nil
        case .mistake(let mistake): mistake
        case .unchecked(let reason):
            throw CommandError(.unavailable, "the script cannot be checked, and is not run: \(reason)")
        }
    }
}
