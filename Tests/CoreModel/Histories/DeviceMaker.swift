import QuickConnect
import TestRig

/// Makes devices at random.
struct DeviceMaker {
    var random: SeededGenerator

    /// Handlers that command objects are. The third is a command of its own where it is registered.
    static let handlers = ["h0", "h1", "free"]
    static let commands = ["m0", "m1", "m2", "m3"]

    mutating func device() -> Device {
        let tables = ["", "new."].map { prefix in
            [defaults(prefix)] + Self.commands.map { command($0, prefix) } + Device.shipped
        }
        return Device(
            tables: tables,
            maxCalls: random.below(2) == 0 ? 1 + random.below(4) : 1024,
            maxHandlers: random.below(3) == 0 ? 1 + random.below(2) : 1024,
            maxSubscriptions: random.below(3) == 0 ? 2 + random.below(3) : 1024,
            connections: 2 + random.below(3)
        )
    }

    private mutating func defaults(_ prefix: String) -> MappedCommand {
        var command = MappedCommand(name: MappingDeclaration.defaultName)
        if random.below(2) == 0 { command.parts = parts("\(prefix)default", atMost: 3, failuresInAHundred: 4) }
        if random.below(6) == 0 { command.patience = .short }
        return command
    }

    private mutating func command(_ name: String, _ prefix: String) -> MappedCommand {
        var command = MappedCommand(name: name)
        command.parts = parts("\(prefix)\(name)", atMost: 5, failuresInAHundred: 15)
        if random.below(3) == 0 { command.patience = random.pick([.short, .short, .long]) }
        // The same in all tables, so that a reload takes no subscription away.
        if name == "m3" { command.allowed = [0] }
        command.takesNumber = random.below(5) == 0
        return command
    }

    private mutating func parts(_ name: String, atMost most: Int, failuresInAHundred: Int) -> [Part] {
        (0..<1 + random.below(most)).map { number in
            let phase = random.pick([.validation, .business, .business, .view, .view, Phase.error, .error])
            return Part(
                name: "\(name).\(number)",
                phase: phase,
                way: way(),
                outcome: outcome(in: phase, "\(name).\(number)", failuresInAHundred: failuresInAHundred)
            )
        }
    }

    private mutating func way() -> Way {
        switch random.below(100) {
        case ..<45: .plain
        case ..<50: .readily
        case ..<56: .quick
        case ..<71: .promise
        case ..<79: .operation
        case ..<84: .deaf
        default: .handler(random.below(3) == 0 ? "h1" : "h0")
        }
    }

    mutating func outcome(in phase: Phase, _ name: String, failuresInAHundred: Int) -> Outcome {
        if random.below(100) < failuresInAHundred { return .fail(random.pick(CommandError.Code.allCases)) }
        if random.below(100) < 7 { return .end }
        switch phase {
        case .validation: return random.below(6) == 0 ? .handOn : .next
        case .error: return .next
        case .business, .view:
            guard random.below(3) > 0 else { return .next }
            return .give(value(name), under: under(), ends: random.below(8) == 0)
        }
    }

    mutating func value(_ name: String) -> String {
        random.pick([#""\#(name)""#, #""\#(name)""#, "null", "17", #"[1,{"a":null}]"#])
    }

    mutating func under() -> String? { random.below(4) == 0 ? random.pick(["other", "m0", "h0"]) : nil }
}
