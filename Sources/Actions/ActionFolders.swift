public import Layout

/// Where actions lie: `NAME/Action.js` in the user's own folder, then in the owner's, then among what is shipped. The first
/// one of a name counts.
public struct ActionFolders: Sendable {
    /// A folder, by whose it is.
    public enum Place: String, Sendable {
        case user, configuration, shipped
    }

    /// An action's file.
    public typealias File = FileLayers<Place>.File

    /// More is no action that somebody wrote.
    public static let maximumBytes = 256 << 10
    public static let fileName = "Action.js"

    private let layers: FileLayers<Place>
    /// The one that this user may write to.
    public let own: String

    /// - Parameter user: nil for root, whose folder is the owner's.
    public init(user: String?, owner: String, shipped: String) {
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

    public init(_ folders: StandardFolders) {
        self.init(user: folders.actions.user, owner: folders.actions.owner, shipped: folders.actions.shipped)
    }

    /// What lies in the folders now, in byte order of the names, and what is wrong there, in words.
    public func files() -> (files: [File], problems: [String]) { layers.files() }

    /// The file of an action; nil where there is none.
    public func file(_ name: String) -> File? { layers.file(name) }
}

/// What actions may be called.
public enum ActionName {
    /// Why a text is no such name, as a sentence; nil for one that is.
    public static func problem(of name: String) -> String? {
        PlainName.isValid(name) ? nil : "an action's name has \(PlainName.expectation)"
    }
}
