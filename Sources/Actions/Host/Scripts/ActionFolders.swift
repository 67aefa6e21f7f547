package import Linux

/// The folders of actions: `NAME/Action.js` in the user's own folder, then in the owner's, then in the shipped one. The
/// first one with a name is used.
package struct ActionFolders: Sendable {
    /// The owners of the folders.
    package enum Place: String, Sendable {
        case user, configuration, shipped
    }

    /// An action's file.
    package typealias File = FileLayers<Place>.File

    /// Larger files are refused.
    package static let maximumBytes = 256 << 10
    package static let fileName = "Action.js"

    private let layers: FileLayers<Place>
    /// The folder that this user may write to.
    package let own: String

    /// - Parameter user: nil for root, whose folder is the owner's.
    package init(user: String?, owner: String, shipped: String) {
        let kind = FileLayers<Place>.Kind(
            "action",
            ending: "/\(Self.fileName)",
            maximumBytes: Self.maximumBytes,
            problem: ActionName.problem(of:)
        )
        let users = user.map { $0 == owner ? [] : [(Place.user, $0)] } ?? []
        layers = FileLayers(users + [(.configuration, owner), (.shipped, shipped)], kind)
        own = user ?? owner
    }

    package init(_ folders: StandardFolders) {
        self.init(user: folders.actions.user, owner: folders.actions.owner, shipped: folders.actions.shipped)
    }

    /// The files in the folders now, sorted by the bytes of their names, and problems there, in words.
    package func files() -> (files: [File], problems: [String]) { layers.files() }

    /// The file of an action; nil if there is none.
    package func file(_ name: String) -> File? { layers.file(name) }
}

/// The names of actions.
package enum ActionName {
    /// Why a text is not such a name, as a sentence; nil if it is one.
    package static func problem(of name: String) -> String? {
        PlainName.isValid(name) ? nil : "an action's name has \(PlainName.expectation)"
    }
}
