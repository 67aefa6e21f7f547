/// A place in a file of the owner's, counted from 1.
public struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
    public var file: String
    public var line: Int
    public var column: Int

    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    public var description: String { "\(file):\(line):\(column)" }
}

extension SourceLocation: Comparable {
    public static func < (one: Self, other: Self) -> Bool {
        (one.file, one.line, one.column) < (other.file, other.line, other.column)
    }
}

/// A value and where it was written.
public struct Located<Value: Sendable>: Sendable {
    public var value: Value
    public var location: SourceLocation

    public init(_ value: Value, at location: SourceLocation) {
        self.value = value
        self.location = location
    }
}

extension Located: Equatable where Value: Equatable {}
extension Located: Hashable where Value: Hashable {}

/// One mistake in a file: `file:line:column: what is wrong`.
public struct ConfigurationMistake: Error, Sendable, Hashable, CustomStringConvertible {
    public var location: SourceLocation
    public var message: String

    public init(_ message: String, at location: SourceLocation) {
        self.location = location
        self.message = message
    }

    public var description: String { "\(location): \(message)" }
}

/// All mistakes that were found, in the order of the files.
public struct ConfigurationMistakes: Error, Sendable, CustomStringConvertible {
    public var mistakes: [ConfigurationMistake]

    public init(_ mistakes: [ConfigurationMistake]) { self.mistakes = mistakes }

    public var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
