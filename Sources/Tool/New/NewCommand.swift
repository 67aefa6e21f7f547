import ArgumentParser
import CommandLineText
import Glibc
import Linux

struct NewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Makes a folder with a script, a page, a kiosk's page or a program that works at once.",
        discussion: """
            The folder gets the name, and lies in the current one. Nothing that exists is changed: where something has that \
            name already, nothing is made. It prints the line that shows that it works, on a daemon of its own with \
            simulated devices, and the line that puts it on this device.

            Examples:
              quickconnect new script bell
              quickconnect new page sign
              quickconnect new kiosk lobby
              quickconnect new program garden            in Python
              quickconnect new program garden --node
            """,
        subcommands: [
            NewScriptCommand.self, NewPageCommand.self, NewKioskCommand.self, NewProgramCommand.self,
        ]
    )
}

/// What each kind takes.
struct NewOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "What it is called: the folder, its files, and its command or value. Letters, digits and _.",
            valueName: "NAME"
        )
    )
    var name: String

    func make(_ kind: NewProject.Kind) throws {
        let folders = StandardFolders()
        let owner = Self.owner(folders)
        func refuse(_ problem: String?) throws(ExitError) {
            if let problem { throw ExitError(message: problem, status: ExitError.usageStatus) }
        }
        try refuse(NewProject.problem(of: name) ?? folders.problem)
        guard let user = getpwuid(geteuid())?.pointee.pw_name else {
            throw ExitError(message: "the user \(geteuid()) has no name here, and the rules of a mapping need one")
        }
        let project = NewProject(
            kind: kind,
            name: name,
            user: String(cString: user),
            shared: Folders.parent(of: folders.templates) ?? "/"
        )
        if kind == .program(.swift), !FileText.exists("\(project.shared)/Package.swift") {
            let message = """
                a Swift program is built with the sources of this project, and the packages have none: call quickconnect of a \
                checkout, or see docs/libraries.md for the lines of a Package.swift
                """
            throw ExitError(message: message)
        }
        let folder = NewFolder(project, templates: folders.templates)
        try refuse(Self.collision(of: project, try folder.mapping(), folders, owner.folder))
        let files = try folder.make()
        say("\(name) is made: \(files.joined(separator: ", ")).")
        say("It works; this shows it, with simulated devices:")
        // The line is for a shell that finds the programs.
        if !Program.isInPath("quickconnectd"), let own = Folders.parent(of: OwnProcess.program) {
            say("  export PATH=\(own.shellWord):$PATH")
        }
        say("  \(project.firstStep)")
        say("On this device:")
        say("  \(project.installing(in: owner.folder, sudo: owner.sudo))")
    }

    /// What on the device the project would take the place of, as a sentence; nil if nothing.
    /// - Parameter mapping: the text of its file of mappings.
    private static func collision(
        of project: NewProject,
        _ mapping: String,
        _ folders: StandardFolders,
        _ owner: String
    ) -> String? {
        // A page or file of mappings of the name would also be read in place of a shipped one.
        let shipped = ["\(folders.mappings[0])/\(project.name).yaml", "\(folders.shippedPages)/\(project.name)"]
        let places = project.targets.map { "\(owner)/\($0)" } + shipped
        if let path = places.first(where: { FileText.exists($0) || FileText.isLink($0) }) {
            return project.problem(ofFile: path)
        }
        for folder in [folders.mappings[0], "\(owner)/mappings"] {
            for file in FileText.names(in: folder) ?? [] where file.hasSuffix(".yaml") {
                let text = try? FileText.read("\(folder)/\(file)", maximumBytes: 1 << 22).get()
                if let problem = project.problem(of: mapping, besides: text ?? "", in: "\(folder)/\(file)") {
                    return problem
                }
            }
        }
        return nil
    }

    /// The folder of settings, mappings, scripts and pages of the daemon that is meant, the device's where it is installed; and
    /// what begins a command that changes something there.
    private static func owner(_ folders: StandardFolders) -> (folder: String, sudo: String) {
        let (own, system) = (Folders.parent(of: folders.config) ?? "/", "/etc/quickconnect")
        let isNamed = OwnProcess.environment["CONFIGURATION_DIRECTORY"] != nil
        return geteuid() == 0 || isNamed || !FileText.exists(system) ? (own, "") : (system, "sudo ")
    }
}

struct NewScriptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "script",
        abstract: "A script: it answers a command, hears an event, and counts.",
        discussion: "NAME.js is the script, NAME.yaml says what it answers and hears, and test tests both."
    )

    @OptionGroup var options: NewOptions

    func run() throws { try options.make(.script) }
}

struct NewPageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page",
        abstract: "A page for browsers: a button that counts, and a text that comes as an event.",
        discussion: """
            The folder page is the page, NAME.yaml says what it counts and hears. show serves it and prints an address that \
            logs a browser in; the page follows each change of a file. show --test tests it.
            """
    )

    @OptionGroup var options: NewOptions

    func run() throws { try options.make(.page) }
}

struct NewKioskCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kiosk",
        abstract: "A page for the kiosk's window, with the window's settings.",
        discussion: """
            The folder page is the page, NAME.yaml says what it counts and hears, kiosk.yaml how the window behaves. show \
            opens the window; show --test looks for mistakes in both files.
            """
    )

    @OptionGroup var options: NewOptions

    func run() throws { try options.make(.kiosk) }
}

extension NewProject.Language: EnumerableFlag {
    static func help(for value: Self) -> ArgumentHelp? {
        switch value {
        case .python: "For Python 3.9 and newer (the default)."
        case .node: "For Node 18 and newer."
        case .swift: "For Swift 6.2, with the sources of this project."
        }
    }
}

struct NewProgramCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "program",
        abstract: "A program: it does what a script of «new script» does.",
        discussion: """
            main.py, main.mjs or Sources/Program.swift is the program, with the client for its language beside it; NAME.yaml \
            says what it answers and hears, and test tests both.
            """
    )

    @OptionGroup var options: NewOptions

    @Flag var language: NewProject.Language = .python

    func run() throws { try options.make(.program(language)) }
}
