/// A position in one of the owner's files, or what else a rule or a mistake comes from.
public struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
    /// The file's name as shown to people.
    public var file: String
    /// From 1; 0 outside of files.
    public var line: Int
    /// From 1, in bytes; 0 outside of files.
    public var column: Int

    /// A position in a file.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// What is not in a file, such as `--listen`, `QUICKCONNECT_GPSD` or `the defaults`.
    public static func outside(_ name: String) -> Self { Self(file: name, line: 0, column: 0) }

    /// The position as compilers write it: `lamp.yaml:5:14`; outside of files only the name.
    public var description: String { line == 0 ? file : "\(file):\(line):\(column)" }
}

extension SourceLocation: Comparable {
    /// Orders by the file's name, then the line, then the column.
    public static func < (one: Self, other: Self) -> Bool {
        (one.file, one.line, one.column) < (other.file, other.line, other.column)
    }
}

/// A value and where it was written.
public struct Located<Value: Sendable>: Sendable {
    /// The value.
    public var value: Value
    /// Where it was written.
    public var location: SourceLocation

    /// A value from a file, and its position.
    public init(_ value: Value, at location: SourceLocation) {
        self.value = value
        self.location = location
    }
}

extension Located: Equatable where Value: Equatable {}
extension Located: Hashable where Value: Hashable {}

/// One mistake in a file: `file:line:column: what is wrong`.
public struct ConfigurationMistake: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where it is.
    public var location: SourceLocation
    /// What is wrong, and what may have been meant.
    public var message: String

    /// A mistake at a position.
    public init(_ message: String, at location: SourceLocation) {
        self.location = location
        self.message = message
    }

    /// The mistake as compilers write it: `lamp.yaml:5:14: …`.
    public var description: String { "\(location): \(message)" }
}

/// All mistakes that were found, in the order of the files.
public struct ConfigurationMistakes: Error, Sendable, CustomStringConvertible {
    /// The mistakes, in the order of their positions.
    public var mistakes: [ConfigurationMistake]

    /// All mistakes that a load has found.
    public init(_ mistakes: [ConfigurationMistake]) { self.mistakes = mistakes }

    /// One line for each.
    public var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
