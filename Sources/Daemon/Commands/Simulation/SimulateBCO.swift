import Concurrency
import JSON
import QuickConnect

/// `simulate [what, value]`: moves an input of a simulated sensor by hand. The value is an object of numbers, at which it
/// is held, or the name of a track in the media folder, or `default`. Returns what moves the input, without parameters
/// what moves each of them. Of a bound value that is read it moves the line, to true or false, or the sensor, to a number, or
/// has it follow a track; of an event
/// that comes from an input device it types the text, or presses the key.
struct SimulateBCO: WaitingBCO {
    let inputs: [SimulatedInput]
    let bound: SimulatedHardware
    /// The path of a file of the media folder. Blocks; fails with `invalid` or `notFound`.
    let mediaPath: @Sendable (_ name: String) throws(CommandError) -> String
    private let thread = SideThread<Void>("qc-tracks", wake: {})

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        guard !call.argument(0).isNull else {
            return .now(.result(try all()))
        }
        guard let input = inputs.first(where: { $0.name == call.string(0) }) else {
            // A word without an ending is no track, but a value that does not fit.
            if let name = call.string(0), let track = call.string(1), track.contains("."),
                bound.followers().contains(name)
            {
                let (mediaPath, follow) = (mediaPath, bound.follow)
                return read(for: call.caller) { () throws(CommandError) in
                    try follow(name, try mediaPath(track), track) ?? .null
                }
            }
            if let name = call.string(0), let value = try bound.simulate(name, call[1]) {
                return .now(.result(value))
            }
            let names = (inputs.map(\.name) + bound.names()).joined(separator: " or ")
            throw .invalid("/0", expected: "what, \(names)", got: call.gist(0))
        }
        if let track = call.string(1) {
            guard track != SimulatedInput.defaultTrack else { return set(input, nil) }
            let mediaPath = mediaPath
            return read(for: call.caller) { () throws(CommandError) in
                let path = try mediaPath(track)
                if let mistake = input.mistake(path) {
                    throw CommandError(.invalid, "\(track) is no track of '\(input.name)': it \(mistake)")
                }
                input.set(.track(path: path, name: track))
                return input.json
            }
        }
        guard !call.argument(1).isNull else { return .now(.result(input.json)) }
        return set(input, .held(try numbers(of: input, call)))
    }

    /// A track may be long, and the threads of tasks are everybody's. What nobody waits for any more is not read.
    private func read(
        for caller: Caller,
        _ work: @escaping @Sendable () throws(CommandError) -> JSONValue
    ) -> Awaited<BusinessOutcome> {
        let answer = Promise<BusinessOutcome>()
        thread.run(for: caller.owner.text) {
            guard !answer.isSettled else { return }
            answer.settle { () throws(CommandError) in .result(try work()) }
        }
        return .promise(answer, onCancel: {})
    }

    private func all() throws(CommandError) -> JSONValue {
        var all = JSONObject(inputs.map { ($0.name, $0.json) })
        for name in bound.names() { all[name] = try bound.simulate(name, nil) }
        return .object(all)
    }

    private func set(_ input: SimulatedInput, _ source: SimulatedInput.Source?) -> Awaited<BusinessOutcome> {
        input.set(source)
        return .now(.result(input.json))
    }

    private func numbers(of input: SimulatedInput, _ call: borrowing Call) throws(CommandError) -> [String: Double] {
        guard call.object(1) != nil else {
            let members = input.members.map { $0.isOptional ? "\($0.name)?" : $0.name }.joined(separator: ", ")
            let expected = "value, {\(members)}, the name of a track in the media folder, or \"default\""
            throw .invalid("/1", expected: expected, got: call.gist(1))
        }
        var reader = try OptionReader(call, 1, known: input.members.map(\.name))
        var numbers: [String: Double] = [:]
        for member in input.members { numbers[member.name] = reader.number(member.name, in: member.range, member.unit) }
        try reader.finish()
        guard let missing = input.members.first(where: { !$0.isOptional && numbers[$0.name] == nil }) else {
            return numbers
        }
        throw .invalid("/1/\(missing.name)", expected: "\(missing.name), a number in \(missing.unit)", got: "nothing")
    }
}
