import Configuration
import QuickConnect

/// Loads the mappings into a table.
struct MappingLoader: Sendable {
    private let folders: [MappingFiles.Folder]
    private let accounts: SystemAccounts

    init(_ settings: Settings, _ accounts: SystemAccounts) {
        folders = settings.mappings
        self.accounts = accounts
    }

    /// Reads all files. Blocks.
    func load(
        _ catalog: [String: any CommandObject],
        _ router: Router
    ) throws(ConfigurationMistakes) -> (table: MappingTable, warnings: [ConfigurationMistake]) {
        try MappingFiles.load(folders).build(
            catalog: catalog,
            scripts: { HandlerCommandObject($0, handlers: router.handlers) },
            values: { name, _ in ValueCommandObject(name, router.values) },
            accounts: accounts
        )
    }
}
