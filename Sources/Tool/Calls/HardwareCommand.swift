import ArgumentParser
import CommandLineText
import JSON

struct HardwareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hardware",
        abstract: "Lists the lines, lights and sensors of this device, with the lines of a mapping that declare them.",
        discussion: """
            Examples:
              quickconnect hardware
              quickconnect hardware --json
            """
    )

    @OptionGroup var output: AnswerOptions

    func run() throws {
        guard let found = output.forPeople(try output.connection.call("hardware"))?.objectValue else { return }
        say(HardwareListing.text(found))
    }
}
