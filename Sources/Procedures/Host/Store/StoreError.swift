/// Why the data could not be read or changed.
package struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it is, which says what to do about it.
    package enum Kind: String, Sendable {
        /// The request is not valid: an invalid date, SQL that does not parse.
        case invalid
        /// The disk, or the store's share of it, is full. Existing data is unchanged.
        case full
        /// The file may not be written.
        case readOnly
        /// The file is not a database, or is damaged.
        case damaged
        /// The file was written by a newer version of this program.
        case newer
        /// Another one has written meanwhile: the transaction must be run again.
        case conflict
        /// Another one held the file for too long.
        case busy
        /// The result exceeds the limit of rows or bytes.
        case tooLarge
        /// It exceeded its time limit.
        case timeout
        /// Anything else, such as a file that cannot be opened.
        case unavailable
    }

    package var kind: Kind
    /// A sentence for people.
    package var description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
