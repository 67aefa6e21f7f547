import Configuration
import QuickConnect

/// Loads the mappings into a table.
struct MappingLoader: Sendable {
    private let folders: [MappingFiles.Folder]
    private let accounts: SystemAccounts
    private let isSimulated: Bool

    /// The command that exists only with `--simulate`, whatever the owner's files say of it.
    private static let simulationCommand = "simulate"

    init(_ settings: Settings, _ accounts: SystemAccounts) {
        folders = settings.mappings
        isSimulated = settings.simulate
        self.accounts = accounts
    }

    /// Reads all files. Blocks.
    func load(
        _ catalog: [String: any CommandObject],
        _ router: Router
    ) throws(ConfigurationMistakes) -> (table: MappingTable, warnings: [ConfigurationMistake]) {
        var files = MappingFiles.load(folders)
        if !isSimulated { files.drop(Self.simulationCommand) }
        return try files.build(
            catalog: catalog,
            scripts: { HandlerCommandObject($0, handlers: router.handlers) },
            values: { name, _ in ValueCommandObject(name, router.values) },
            accounts: accounts
        )
    }
}
