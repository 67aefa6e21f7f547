import JSON
import QuickConnect

/// Checks the parameters of `subscribe`: at least one name, then at most one object of options.
struct SubscribeValCO: CommandObject {
    let phase = Phase.validation

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        let count = call.arguments.count
        let hasOptions = count > 1 && call.arguments[count - 1].objectValue != nil
        let names = hasOptions ? count - 1 : count
        var problems: [FieldProblem] = []
        if names == 0 { problems.append(FieldProblem(field: "/0", expected: "name, the name of an event")) }
        for index in 0..<names where (call.arguments[index].stringValue ?? "").isEmpty {
            problems.append(FieldProblem(field: "/\(index)", expected: "name, the name of an event"))
        }
        guard problems.isEmpty else { throw .invalid(problems) }
        return .proceed
    }
}
