public import Layout
public import QuickConnect

extension Settings {
    /// The settings of a program that a user has started for the system's daemon: those of the user's own files if there
    /// are any, otherwise the owner's.
    public static func ofUser(
        flags: Overrides,
        environment: [String: String],
        folders: StandardFolders
    ) throws(ConfigurationMistakes) -> Settings {
        var folders = folders
        if !exist(at: folders.config) { folders.config = "/etc/quickconnect/quickconnectd.yaml" }
        return try load(flags: flags, environment: environment, folders: folders)
    }

    /// Whether there is any file of settings.
    /// - Parameter main: the path of the main one.
    public static func exist(at main: String) -> Bool { SettingsFiles.exist(at: main) }
}
