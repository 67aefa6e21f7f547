public import Layout
internal import Linux
public import QuickConnect

extension Settings {
    /// The settings of a program that a user has started for the system's daemon: those of the user's own file if it
    /// exists, otherwise the owner's.
    public static func ofUser(
        flags: Overrides,
        environment: [String: String],
        folders: StandardFolders
    ) throws(ConfigurationMistakes) -> Settings {
        var folders = folders
        if !FileText.exists(folders.config) { folders.config = "/etc/quickconnect/quickconnectd.yaml" }
        return try load(flags: flags, environment: environment, folders: folders)
    }
}
