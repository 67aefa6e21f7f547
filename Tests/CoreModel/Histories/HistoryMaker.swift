import QuickConnect
import TestRig

/// Makes histories at random: as it goes it asks the model what waits, so that most steps mean something.
struct HistoryMaker {
    private var maker: DeviceMaker
    private var model: Model
    private var steps: [Step] = []
    private var serial = 0
    /// What waited once.
    private var gates: [GateKey: Phase] = [:]

    private init(seed: UInt64) {
        maker = DeviceMaker(random: SeededGenerator(seed: seed))
        model = Model(maker.device())
    }

    static func history(seed: UInt64) -> History {
        var maker = HistoryMaker(seed: seed)
        let device = maker.model.device
        for _ in 0..<4 + maker.below(28) { maker.add(maker.step()) }
        return History(device: device, steps: maker.steps)
    }

    private mutating func below(_ bound: Int) -> Int { maker.random.below(bound) }
    private mutating func pick<Item>(_ items: [Item]) -> Item { maker.random.pick(items) }

    private mutating func add(_ step: Step) {
        _ = model.take(step)
        steps.append(step)
        for run in model.kept {
            guard let part = run.waiting?.part, run.waiting?.question == nil else { continue }
            gates[GateKey(serial: run.line.serial, part: part.name)] = part.phase
        }
    }

    private mutating func step() -> Step {
        let connection = below(model.device.connections)
        switch below(100) {
        case ..<40: return .calls(connection, calls())
        case ..<62: return settlement() ?? .calls(connection, calls())
        case ..<78: return answer() ?? .calls(connection, [registration()])
        case ..<82: return .alarm
        case ..<84: return .stray(connection)
        case ..<88: return .calls(connection, [registration()])
        case ..<91: return .endInput(connection)
        case ..<94: return .close(connection)
        case ..<97: return .reload(below(2))
        case ..<98: return .finish
        default: return .calls(connection, [cancel()])
        }
    }

    // MARK: Calls

    private mutating func calls() -> [Line] {
        guard below(8) == 0 else { return [call()] }
        return (0..<2 + below(3)).map { _ in
            var line = call()
            line.form = .bridge
            return line
        }
    }

    private mutating func call() -> Line {
        switch below(20) {
        case ..<11: usersCall()
        case 11: line(pick(["free", "nothing", "default"]), number)
        case 12, 13: cancel()
        case 14: registration()
        case 15: line("removeHandler", [handler, "\(serial + 1)"])
        case 16, 17: line("subscribe", [event, #""n\#(serial + 1)""#])
        case 18: line("unsubscribe", [event, #""n\#(serial + 1)""#])
        default: line("post", [event, "\(serial + 1)"])
        }
    }

    private var number: [String] { ["\(serial + 1)"] }
    private var handler: String { mutating get { #""\#(pick(DeviceMaker.handlers + ["m0"]))""# } }
    private var event: String { mutating get { #""\#(pick(["e0", "e0", "e1", "m3", "handlers", "commands"]))""# } }

    private mutating func line(_ command: String, _ arguments: [String]) -> Line {
        serial += 1
        let form = pick([WireForm.url, .bridge])
        let id = below(4) == 0 ? nil : pick(["1", "2", "7"])
        return Line(serial: serial, command: command, arguments: arguments, form: form, id: id)
    }

    private mutating func usersCall() -> Line {
        let command = pick(DeviceMaker.commands)
        if below(10) == 0 { return line(command, [#""x""#, "\(serial + 1)"]) }
        var line = line(command, number)
        line.isBare = below(4) == 0
        return line
    }

    private mutating func cancel() -> Line {
        let id = pick(["1", "2", "7"])
        return line("cancel", [pick([id, #""\#(id)""#]), "\(serial + 1)"])
    }

    private mutating func registration() -> Line {
        let options = pick(["{}", #"{"cancel":true}"#])
        return line("registerHandler", [handler, options, "\(serial + 1)"])
    }

    // MARK: What waits

    /// Mostly what somebody waits for, and at times what somebody has waited for.
    private mutating func settlement() -> Step? {
        let waiting = model.kept.compactMap { run in
            run.waiting?.question == nil
                ? run.waiting.map { GateKey(serial: run.line.serial, part: $0.part.name) } : nil
        }
        let keys = below(8) == 0 ? gates.keys.sorted { ($0.serial, $0.part) < ($1.serial, $1.part) } : waiting
        guard !keys.isEmpty else { return nil }
        let key = pick(keys)
        let phase = gates[key] ?? .business
        return .settle(key, maker.outcome(in: phase, "s\(steps.count)", failuresInAHundred: 15))
    }

    private mutating func answer() -> Step? {
        let old = model.asked.keys.sorted { ($0.serial, $0.number) < ($1.serial, $1.number) }
        let keys = below(6) == 0 ? old : model.questions.map(\.key)
        guard !keys.isEmpty else { return nil }
        let key = pick(keys)
        if below(7) == 0 { return .answer(key, .error(code: pick(["busy", "nonsense", "notFound", "timeout"]))) }
        let value = maker.value("s\(steps.count)")
        return .answer(key, .value(value, under: maker.under(), ends: below(6) == 0))
    }
}
