import JSON
import QuickConnect

/// Checks the parameters of `subscribe`: one or more names, then at most one object of options.
struct SubscribeValCO: ValCO {
    private let controller: FrontController

    init(_ controller: FrontController) { self.controller = controller }

    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        .handOn(try SubscriptionWish(call, limit: controller.limits.subscriptionsPerConnection))
    }
}

/// What `subscribe` asks for.
struct SubscriptionWish: Sendable {
    var names: [String] = []
    var options: JSONObject = [:]

    init(_ call: borrowing Call, limit: Int) throws(CommandError) {
        let count = call.argumentCount
        let options = count > 1 ? call.object(count - 1) : nil
        let nameCount = options == nil ? count : count - 1
        guard nameCount <= limit else {
            throw CommandError(.overloaded, "a connection subscribes to at most \(limit) events, not to \(nameCount)")
        }
        var problems = FieldProblems()
        if nameCount == 0 { problems.add("/0", expected: "name, the name of an event", got: "nothing") }
        for index in 0..<nameCount {
            let name = call.string(index) ?? ""
            if name.isEmpty || name.utf8.count > Limits.nameBytes {
                problems.add(
                    "/\(index)",
                    expected: "name, the name of an event, of at most \(Limits.nameBytes) bytes",
                    got: call.gist(index)
                )
            }
            names.append(name)
        }
        guard problems.isEmpty else { throw problems.error }
        if let options { self.options = try Self.options(options, field: "/\(nameCount)") }
    }

    /// The options of a device's event are few, so a longer object is refused.
    private static func options(_ text: JSONText, field: String) throws(CommandError) -> JSONObject {
        var count = 0
        text.forEachMember { name, value in
            count += value.count > 4096 || name.utf8.count > 128 ? 65 : 1
            return count <= 64
        }
        guard count <= 64 else {
            throw .invalid(field, expected: "options, an object of at most 64 short members", got: text.gist)
        }
        return text.value.objectValue ?? [:]
    }
}
