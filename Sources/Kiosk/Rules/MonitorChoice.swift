/// Which of a device's monitors a window is shown on.
package enum MonitorChoice: Sendable, Hashable, CustomStringConvertible {
    /// The first is 1; they are counted from left to right, then from top to bottom.
    case number(Int)
    /// The name of its connector: `HDMI-1`, in upper or lower case.
    case name(String)

    /// The most monitors that can be counted.
    package static let maximumNumber = 16

    /// Nil if the text is empty, or a number that no monitor has.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            guard let first = text.unicodeScalars.first, first.properties.isAlphabetic else { return nil }
            self = .name(text)
            return
        }
        guard let number = Int(text), (1...Self.maximumNumber).contains(number) else { return nil }
        self = .number(number)
    }

    /// The position in a list of the connectors' names; nil if that monitor is not there.
    package func index(among names: [String]) -> Int? {
        switch self {
        case .number(let number): names.indices.contains(number - 1) ? number - 1 : nil
        case .name(let name): names.firstIndex { $0.lowercased() == name.lowercased() }
        }
    }

    package var description: String {
        switch self {
        case .number(let number): String(number)
        case .name(let name): name
        }
    }
}
