import ArgumentParser
import Glibc
import JSON
import QuickConnect
import QuickConnectClient

struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Prints events as they come, one JSON object a line, until interrupted.",
        discussion: """
            Each line is {"event": NAME, "data": VALUE}. A last argument that is a JSON object gives options.

            Examples:
              quickconnect events doorbell
              quickconnect events location '{"maximumAge": null}'
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: ArgumentHelp("The events' names.", valueName: "NAME"))
    var names: [String]

    func run() throws {
        for number in [SIGINT, SIGTERM] { signal(number) { _ in _exit(0) } }
        let deadline = connection.deadline
        let client = try connection.connect(before: deadline)
        do {
            if case .failure(let error) = try client.call("subscribe", parameters, before: deadline) {
                throw End(error)
            }
            while true {
                let event = try client.nextEvent()
                say(JSONValue.object(["event": .string(event.name), "data": event.value]).text)
            }
        } catch let failure as ClientFailure {
            throw End(failure)
        }
    }

    private var parameters: JSONValue {
        var parameters = names.map(JSONValue.string)
        if names.count > 1, let last = names.last, let options = try? JSONParser.parse(last), options.objectValue != nil
        {
            parameters[parameters.count - 1] = options
        }
        return .array(parameters)
    }
}
