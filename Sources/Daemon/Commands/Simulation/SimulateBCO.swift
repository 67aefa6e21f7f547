import JSON
import QuickConnect

/// `simulate [what, value]`: moves an input of a simulated sensor by hand. The value is an object of numbers, at which it
/// is held, or the name of a track in the media folder, or `default`. Returns what moves the input, without parameters
/// what moves each of them.
struct SimulateBCO: WaitingBCO {
    private let inputs: [SimulatedInput]
    private let mediaPath: @Sendable (_ name: String) throws(CommandError) -> String

    /// - Parameter mediaPath: the path of a file of the media folder. Blocks; fails with `invalid` or `notFound`.
    init(_ inputs: [SimulatedInput], mediaPath: @escaping @Sendable (String) throws(CommandError) -> String) {
        (self.inputs, self.mediaPath) = (inputs, mediaPath)
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        guard !call.argument(0).isNull else {
            return .now(.result(.object(JSONObject(inputs.map { ($0.name, $0.json) }))))
        }
        guard let input = inputs.first(where: { $0.name == call.string(0) }) else {
            let names = inputs.map(\.name).joined(separator: " or ")
            throw .invalid("/0", expected: "what, \(names)", got: call.gist(0))
        }
        if let track = call.string(1) {
            guard track != SimulatedInput.defaultTrack else { return set(input, nil) }
            let mediaPath = mediaPath
            return .wait { () async throws(CommandError) in
                input.set(.track(path: try mediaPath(track), name: track))
                return .result(input.json)
            }
        }
        guard !call.argument(1).isNull else { return .now(.result(input.json)) }
        return set(input, .held(try numbers(of: input, call)))
    }

    private func set(_ input: SimulatedInput, _ source: SimulatedInput.Source?) -> Awaited<BusinessOutcome> {
        input.set(source)
        return .now(.result(input.json))
    }

    private func numbers(of input: SimulatedInput, _ call: borrowing Call) throws(CommandError) -> [String: Double] {
        guard let object = call.object(1) else {
            let members = input.members.map { $0.isOptional ? "\($0.name)?" : $0.name }.joined(separator: ", ")
            let expected = "value, {\(members)}, the name of a track in the media folder, or \"default\""
            throw .invalid("/1", expected: expected, got: call.gist(1))
        }
        var reader = try OptionReader(object, field: "/1", known: input.members.map(\.name))
        var numbers: [String: Double] = [:]
        for member in input.members { numbers[member.name] = reader.number(member.name, in: member.range, member.unit) }
        try reader.finish()
        guard let missing = input.members.first(where: { !$0.isOptional && numbers[$0.name] == nil }) else {
            return numbers
        }
        throw .invalid("/1/\(missing.name)", expected: "\(missing.name), a number in \(missing.unit)", got: "nothing")
    }
}
