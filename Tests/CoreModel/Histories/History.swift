import QuickConnect

/// A device, and what happens to it.
struct History: Sendable {
    var device: Device
    var steps: [Step]
}

extension History: CustomStringConvertible {
    var description: String {
        let device =
            """
            a connection has at most \(device.maxCalls) waiting calls, \(device.maxHandlers) handlers, \
            \(device.maxSubscriptions) subscriptions
            """
        let tables = self.device.tables.enumerated().flatMap { number, table in
            let words = table.filter(\.isWorthTelling).map { "  \($0)" }
            return words.isEmpty
                ? [] : ["mappings \(number), of whose commands those that are not told do nothing:"] + words
        }
        let lines = steps.enumerated().map { "  \($0 + 1). \($1)" }
        return ([device] + tables + ["what happens:"] + lines).joined(separator: "\n")
    }
}

/// The name of a connection in descriptions.
func connectionName(_ number: Int) -> String { String(UnicodeScalar(UInt8(ascii: "a") + UInt8(number))) }

extension MappedCommand: CustomStringConvertible {
    fileprivate var isWorthTelling: Bool {
        parts.contains { $0.way != .shipped } || patience != .inherited || takesNumber || allowed != nil
    }

    var description: String {
        var words = [name]
        if takesNumber { words.append("(number)") }
        if let allowed { words.append("only for \(allowed.map { Device.user($0) }.joined(separator: ", "))") }
        if patience != .inherited { words.append("with \(patience) time") }
        return words.joined(separator: " ") + ": "
            + (parts.isEmpty ? "nothing" : parts.map(\.description).joined(separator: " → "))
    }
}

extension Part: CustomStringConvertible {
    var description: String {
        switch way {
        case .plain: "\(name)(\(outcome))"
        case .shipped: name
        case .handler(let handler): "\(name)(asks \(handler))"
        case .readily, .quick: "\(name)(\(way), \(outcome))"
        case .promise, .operation, .deaf: "\(name)(waits by \(way))"
        }
    }
}

extension Outcome: CustomStringConvertible {
    var description: String {
        switch self {
        case .next: "next"
        case .handOn: "hands on"
        case .end: "end"
        case .give(let value, let command, let ends):
            "\(value)\(command.map { " under \($0)" } ?? "")\(ends ? " and end" : "")"
        case .fail(let code): "throws \(code.rawValue)"
        }
    }
}

extension Line: CustomStringConvertible {
    var description: String {
        "\(form == .url ? "url" : "bridge") \(command) \(data)\(id.map { " with id \($0)" } ?? "")"
    }
}

extension Answer: CustomStringConvertible {
    var description: String {
        switch self {
        case .value(let value, let command, let ends):
            "\(value)\(command.map { " under \($0)" } ?? "")\(ends ? " and end" : "")"
        case .error(let code): "the error \(code)"
        }
    }
}

extension Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .calls(let connection, let lines):
            "\(connectionName(connection)) sends \(lines.map(\.description).joined(separator: ", and in the same line "))"
        case .settle(let key, let outcome): "what is awaited by \(key) comes: \(outcome)"
        case .answer(let key, let answer): "\(key) is answered with \(answer)"
        case .stray(let connection): "\(connectionName(connection)) answers what nobody asked"
        case .alarm: "the time of those who have little is over"
        case .endInput(let connection): "\(connectionName(connection)) ends its input"
        case .close(let connection): "\(connectionName(connection)) is gone"
        case .reload(let table): "mappings \(table) are put in place"
        case .finish: "the daemon is to stop: no call shall wait any more"
        case .endAll: "the daemon ends what still waits"
        }
    }
}
