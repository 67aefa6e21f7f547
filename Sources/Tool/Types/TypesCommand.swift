import ArgumentParser
import CommandLineText

struct TypesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "types",
        abstract: "Prints typed functions for the commands, values, events and schedules of this device.",
        discussion: """
            They are made from the mappings, of what you may call; make them again when the mappings change. \
            docs/clients.md shows how they are used.

            Examples:
              quickconnect types --typescript > device.ts
              quickconnect types --python > device.py
              quickconnect types --swift > Sources/App/TypedDevice.swift
            """
    )

    /// What it prints.
    enum Language: String, EnumerableFlag {
        case typescript, python, swift

        static func help(for value: Language) -> ArgumentHelp? {
            switch value {
            case .typescript: "TypeScript, for pages, scripts and Node."
            case .python: "Python, for the module quickconnect."
            case .swift: "Swift, for QuickConnectClient."
            }
        }
    }

    @OptionGroup var connection: ConnectionOptions

    @Flag var language: Language

    func run() throws {
        let commands = try TypedCommand.all(connection)
        switch language {
        case .typescript: say(TypeScriptText(commands).text)
        case .python: say(PythonText(commands).text)
        case .swift: say(SwiftText(commands).text)
        }
    }
}
