/// Why the data could not be read or changed.
public struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it is, which says what to do about it.
    public enum Kind: String, Sendable {
        /// What was asked makes no sense: a date that is none, SQL that does not parse.
        case invalid
        /// The disk, or what the store may use of it, is full. What is there stays as it was.
        case full
        /// The file may not be written.
        case readOnly
        /// The file is no database, or is damaged.
        case damaged
        /// The file is of a newer version of this program.
        case newer
        /// Another has written meanwhile: what was begun is to be run again.
        case conflict
        /// Another held the file for too long.
        case busy
        /// The answer has more rows or bytes than it may have.
        case tooLarge
        /// It took longer than it may.
        case timeout
        /// Anything else, such as a file that cannot be opened.
        case unavailable
    }

    public var kind: Kind
    /// A sentence for people.
    public var description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
