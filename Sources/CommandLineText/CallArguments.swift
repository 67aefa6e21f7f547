internal import JSON

/// The arguments of a call, as a command line has them.
public enum CallArguments {
    /// The text of `msg` that arguments stand for.
    public static func message(_ arguments: [String]) -> String? {
        guard arguments.count > 1 else { return arguments.first }
        return JSONValue.array(arguments.map { (try? JSONParser.parse($0)) ?? .string($0) }).text
    }
}
