import ArgumentParser
import CommandLineText
import JSON

struct SchedulesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedules",
        abstract: "Lists the schedules of the mappings: next run, last run, and how it ended.",
        discussion: """
            «quickconnect call NAME run» runs one now.

            Examples:
              quickconnect schedules
              quickconnect schedules --json
            """
    )

    @OptionGroup var output: AnswerOptions

    func run() throws {
        let schedules = try output.connection.call("state").objectValue?["schedules"] ?? [:]
        guard let answer = output.forPeople(schedules)?.objectValue else { return }
        guard !answer.isEmpty else {
            return say(
                """
                No mapping declares a schedule that you may call. One is declared in a file of mappings:
                  night: {schedule: {at: "22:00"}, call: [playSound, 0]}
                """
            )
        }
        let commands = try output.connection.call("commands").objectValue ?? [:]
        say(ScheduleTable.text(answer, commands))
    }
}
