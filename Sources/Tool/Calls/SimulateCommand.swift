import ArgumentParser
import CommandLineText
import JSON
import Linux
import QuickConnect

struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Moves a simulated sensor of a daemon with --simulate.",
        usage: "quickconnect simulate [--socket <PATH>] [tilt|position|NAME [NUMBER ...|TRACK|default|true|false]]",
        discussion: """
            A sensor stays where it is put, until it is moved again. TRACK is a file of the media folder with a recorded \
            motion or way; «default» is the one of the settings. Without an argument, shows what moves each sensor. NAME is a \
            value that the mappings bind to a line or a sensor, or an event that comes from a reader or from keys.

            Examples:
              quickconnect simulate tilt 30 0              the right edge is 30 degrees higher than the left one
              quickconnect simulate tilt 0 -45             the top edge is 45 degrees lower than the bottom one
              quickconnect simulate position 51.5007 -0.1246
              quickconnect simulate position 47.42 10.98 2962      with the altitude in metres
              quickconnect simulate position walk.json
              quickconnect simulate tilt default
              quickconnect simulate bell true
              quickconnect simulate cpuTemperature 71.5
              quickconnect simulate bell press.json        a recorded track
              quickconnect simulate door 0012345678        what a card reader types
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("What to move, and to where.", valueName: "WHAT [NUMBER…|TRACK]"),
        completion: .list(["tilt", "position"])
    )
    var words: [String] = []

    /// The names of the numbers, in the order in which they are typed.
    private static let numbers = ["tilt": ["roll", "pitch"], "position": ["latitude", "longitude", "altitude"]]

    func run() throws {
        if words.first == "--help" || words.first == "-h" { throw CleanExit.helpRequest(self) }
        if let option = words.first, option.hasPrefix("-") { throw Self.unknownOption(option) }
        do { say(try connection.call("simulate", parameters()).text) } catch var end as ExitError {
            if let remedy = CallArguments.remedy([], of: "simulate", error: end) { end.message += "\n" + remedy }
            throw end
        }
    }

    /// What to say of a name that cannot be moved.
    private func nothing(_ what: String, _ names: [String]) -> ValidationError {
        if let (name, text) = SetArguments.assignment(words), names.contains(name) {
            let line = "quickconnect simulate \(name.shellWord) \(text.shellWord)"
            return ValidationError("What is moved, and to where, are two words: «\(line)».")
        }
        let near = NearestNames.question(what, among: names)
        let all = "There is no '\(what)' to move, but \(names.joined(separator: ", "))\(near.isEmpty ? "." : near)"
        let isSet = (try? connection.explained(what))?["value"]?.objectValue != nil
        let call = (["quickconnect", "call"] + words).map(\.shellWord).joined(separator: " ")
        let more = isSet ? " A value is set: «\(call)»." : connection.unreadFiles().map { "\n\($0)" } ?? ""
        return ValidationError(all + more)
    }

    private func parameters() throws -> [JSONValue] {
        guard let what = words.first else { return [] }
        guard let names = Self.numbers[what] else {
            let all = try connection.call("simulate").objectValue ?? [:]
            guard let now = all[what] else { throw nothing(what, all.names.sorted()) }
            // What an event tells is not known afterwards. A code may look like a number.
            let isTyped = now == .null
            guard words.count <= 2 else {
                let text = words.dropFirst().joined(separator: " ")
                let line = "quickconnect simulate \(what.shellWord) \(text.shellWord)"
                throw ValidationError(
                    isTyped ? "\(what) takes one text: «\(line)»." : "\(what) takes one value, such as true or 21.5."
                )
            }
            return [.string(what)]
                + words.dropFirst().map { word in
                    let isText = isTyped && !word.hasPrefix("{") && !word.hasPrefix("\"")
                    return isText ? .string(word) : (try? JSONParser.parse(word)) ?? .string(word)
                }
        }
        let values = words.dropFirst()
        guard let first = values.first else { return [.string(what)] }
        if values.count == 1, Double(first) == nil {
            let parts = first.split(separator: ",")
            guard parts.count > 1, parts.allSatisfy({ Double($0) != nil }) else {
                return [.string(what), .string(first)]
            }
            throw ValidationError(
                "The numbers are words of their own: «quickconnect simulate \(what) \(parts.joined(separator: " "))»."
            )
        }
        guard values.count <= names.count, values.count >= 2 else {
            throw ValidationError("\(what) takes \(names.joined(separator: " ")), or the name of a track.")
        }
        var members: [(String, JSONValue)] = []
        for (name, text) in zip(names, values) {
            guard let number = Double(text), number.isFinite else {
                let note = SetArguments.noNumber(text).map { " \($0)" } ?? ""
                throw ValidationError("The \(name) is a number, not '\(text)'.\(note)")
            }
            members.append((name, .number(number)))
        }
        return [.string(what), .object(JSONObject(members))]
    }
}
