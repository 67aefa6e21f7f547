package import JSON

/// What `commands` answers, for people.
package enum CommandListing {
    /// A line for each command: its parameters in short, and what it is for.
    package static func text(_ commands: JSONValue, width: Int) -> String {
        let rows = (commands.objectValue ?? [:]).map { name, entry in
            [name + parameters(entry), entry.objectValue?["help"]?.stringValue ?? ""]
        }
        return Table.text(rows, width: width)
    }

    /// The parameters in short: ` sound [level] names…`.
    package static func parameters(_ entry: JSONValue) -> String {
        guard let parameters = entry.objectValue?["parameters"]?.arrayValue else {
            return " …"
        }
        // Whatever it takes, it refuses.
        if entry.objectValue?["value"]?.objectValue?["input"] == true { return "" }
        return parameters.compactMap(\.objectValue).map { parameter in
            var name = parameter["name"]?.stringValue ?? "?"
            if parameter["repeat"] == true { name += "…" }
            return parameter["optional"] == true ? " [\(name)]" : " \(name)"
        }.joined()
    }
}
