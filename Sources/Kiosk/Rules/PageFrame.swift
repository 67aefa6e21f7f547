/// The messages between the window and a page: a letter, a number, a space, and a text.
///
/// From the page: `d` a document begins; `o` opens a connection to the daemon, `l` has
/// lines for it, `c` closes it; `p` asks for what has come; `r` answers a call of the window. To the page: `o` a connection
/// is open, `l` lines of the daemon, `c` it is closed; `u` a call by an address, `b` the bridge is asked for, `q` its
/// messages are to be fetched, `h` a call of the window, with the number 0 if nobody waits for its answer.
package struct PageFrame: Sendable, Hashable {
    package enum Kind: Character, Sendable {
        case document = "d"
        case open = "o"
        case lines = "l"
        case close = "c"
        case poll = "p"
        case result = "r"
        case urlCall = "u"
        case bridgeLoaded = "b"
        case bridgeMessages = "q"
        case handlerCall = "h"
    }

    package var kind: Kind
    /// The number of the document's connection, or 0.
    package var number: Int
    package var text: String

    package init(_ kind: Kind, _ number: Int = 0, _ text: String = "") {
        self.kind = kind
        self.number = number
        self.text = text
    }

    /// Nil if the line is not a frame.
    package init?(_ line: String) {
        guard let first = line.utf8.first, let kind = Kind(rawValue: Character(Unicode.Scalar(first)))
        else { return nil }
        let space = line.utf8.firstIndex(of: UInt8(ascii: " ")) ?? line.endIndex
        guard let number = Int(line[line.index(after: line.startIndex)..<space]), number >= 0 else { return nil }
        self.init(kind, number, space < line.endIndex ? String(line[line.utf8.index(after: space)...]) : "")
    }

    /// The frame as text.
    package var line: String { "\(kind.rawValue)\(number) \(text)" }
}
