import ArgumentParser
import CommandLineText
import JSON
import QuickConnect

struct CanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "can",
        abstract: "Tells whether a command is allowed, without running it.",
        discussion: """
            Exit status: 0 allowed, 1 not allowed.

            Examples:
              quickconnect can reload
              quickconnect can playSound --as kiosk
              quickconnect can macro save --as web:ann --group ops
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("Check for another user, or a user of a gateway, such as web:ann.", valueName: "USER")
    )
    var user: String?

    @Option(
        name: .customLong("group"),
        help: ArgumentHelp("A group of the gateway's user; may be repeated.", valueName: "GROUP")
    )
    var groups: [String] = []

    @Flag(help: "Print JSON, for programs.")
    var json = false

    @Argument(help: "The command.", completion: Completion.command)
    var command: String

    @Argument(help: "The first parameter of the call, such as save.")
    var verb: String?

    /// The parameters of the call.
    private var parameters: [JSONValue] {
        var options: JSONObject = [:]
        options["verb"] = verb.map(JSONValue.string)
        if !groups.isEmpty { options["groups"] = .array(groups.map(JSONValue.string)) }
        var parameters: [JSONValue] = [.string(command)]
        if let user { parameters.append(.string(user)) }
        if !options.isEmpty { parameters.append(.object(options)) }
        return parameters
    }

    func validate() throws {
        // A user where a verb stands would be told that the call is allowed.
        guard let verb, GatewayName.parts(verb) != nil else { return }
        throw ValidationError("'\(verb)' is a user and no verb. To ask for that user: --as \(verb)")
    }

    func run() throws {
        let answer = try answer()
        let what = verb.map { "\(command) \($0)" } ?? command
        let members = answer.objectValue ?? [:]
        let isAllowed = members["allowed"] == true
        if json {
            say(answer.text)
        } else if isAllowed {
            say("\(user ?? "You") may call \(what).\(Self.but(members["verbs"]?.objectValue))")
        } else {
            say("\(user ?? "You") may not: \(members["message"]?.stringValue ?? "").")
        }
        if !isAllowed { throw ExitError.refused }
    }

    private func answer() throws -> JSONValue {
        do { return try connection.call("can", parameters) } catch var end as ExitError where end.code == "notFound" {
            if user?.hasPrefix("quickconnect") == true { end.message += Self.noService }
            throw end
        }
    }

    /// What to do where the packages are not installed.
    private static let noService =
        """
        : the packages make the users of services. Here scripts and gateways are run by whoever starts them, so ask without --as
        """

    /// The verbs that are refused.
    private static func but(_ verbs: JSONObject?) -> String {
        let refused = (verbs ?? [:]).filter { $0.value == false }.map(\.name)
        return refused.isEmpty ? "" : " Not with \(refused.joined(separator: ", "))."
    }
}
