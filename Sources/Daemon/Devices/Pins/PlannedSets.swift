internal import JSON
package import QuickConnect

extension MappingTable {
    /// Checks what schedules set of the hardware. Throws the mistakes: what would be refused each time.
    /// - Returns: warnings of leases that end with the call of their schedule.
    package func checkPlannedSets() throws(ConfigurationMistakes) -> [ConfigurationMistake] {
        var (mistakes, warnings): ([ConfigurationMistake], [ConfigurationMistake]) = ([], [])
        for entry in entries {
            guard let call = entry.schedule?.call, let value = self[call.command.value]?.value,
                value.binding != nil, let new = call.parameters.first
            else { continue }
            let options = call.parameters.dropFirst().first?.objectValue
            guard new != .null || options?["add"] != nil else { continue }
            let (name, output, location) = (entry.command, call.command.value, call.command.location)
            guard !value.isInput else {
                let says = "the schedule '\(name)': \(value.refusalToSet(output))"
                mistakes.append(ConfigurationMistake(says, at: location))
                continue
            }
            do throws(CommandError) {
                let time = try OutputPlan.time(of: options, at: "/1")
                if new == .null, let amount = options?["add"] {
                    // What becomes of a number depends on what it is then.
                    if !value.isCounted { _ = try value.adding(amount, to: value.initial, field: "/1/add") }
                    continue
                }
                let plan = try OutputPlan(new, for: time, of: value)
                guard plan.isLeased(value) else { continue }
                let remedy =
                    plan.isPattern
                    ? "A pattern takes no time: declare '\(output)' without 'lease'"
                    : "A time keeps it: [\(output), \(new.text.shortened), {for: 5s}]"
                let says = """
                    the schedule '\(name)' sets '\(output)', whose lease ends with the call: it returns to its default at \
                    once. \(remedy)
                    """
                warnings.append(ConfigurationMistake(says, at: location))
            } catch {
                mistakes.append(ConfigurationMistake("the schedule '\(name)': \(error.message)", at: location))
            }
        }
        guard mistakes.isEmpty else {
            throw ConfigurationMistakes(mistakes.sorted { $0.location < $1.location })
        }
        return warnings.sorted { $0.location < $1.location }
    }
}
