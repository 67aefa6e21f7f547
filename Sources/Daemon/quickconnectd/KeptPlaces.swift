import Configuration
import JSON
import Layout
import Linux

/// Where this device keeps what a backup holds, for `quickconnect backup`: `{"configuration", "values", "state", "actions",
/// "elsewhere": [folder, …]}`. The last are folders of the owner's outside of the first.
struct KeptPlaces {
    let json: JSONValue

    init(_ settings: Settings, _ folders: StandardFolders) {
        let configuration = Folders.parent(of: folders.config) ?? "/"
        let named = settings.mappings.map(\.path) + [settings.scripts] + (settings.web.pages.map { [$0] } ?? [])
        let elsewhere = named.filter { !$0.hasPrefix("\(configuration)/") && !folders.mappings.contains($0) }
        json = [
            "configuration": .string(configuration), "values": .string(settings.values),
            "state": .string(folders.state), "actions": .string(folders.actionStates.own),
            "elsewhere": .array(elsewhere.map(JSONValue.string)),
        ]
    }
}
