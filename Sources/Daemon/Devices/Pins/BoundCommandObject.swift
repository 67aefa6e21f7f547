internal import JSON
package import QuickConnect

/// A value that is bound to hardware, as a command: without a parameter it returns what it is, with one it sets it.
package struct BoundCommandObject: WaitingBCO {
    package let touchesDevice = true
    private let name: String
    private let store: ValueStore
    private let declaration: ValueDeclaration
    /// Nil where the mappings are only checked.
    private let hardware: BoundHardware?

    package init(_ name: String, _ declaration: ValueDeclaration, _ store: ValueStore, _ hardware: BoundHardware?) {
        (self.name, self.declaration, self.store, self.hardware) = (name, declaration, store, hardware)
    }

    package func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        guard let hardware else { throw CommandError(.unavailable, "no hardware is used") }
        let (value, added) = (call[0], try ValueDeclaration.added(by: call))
        guard value != nil || added != nil else {
            guard declaration.isInput else { return .now(.result(store[name] ?? .null)) }
            return answer(try hardware.read(name))
        }
        guard !declaration.isInput else {
            throw CommandError(.unsupported, declaration.refusalToSet(name))
        }
        let time = try OutputPlan.time(of: call[1]?.objectValue, at: call.field(1))
        let plan = try value.map { value throws(CommandError) in try OutputPlan(value, for: time, of: declaration) }
        return answer(
            try hardware.set(name, declaration, for: call.connection) { [declaration] now throws(CommandError) in
                if let plan { return plan }
                let (amount, field) = added ?? (.null, "/0")
                let sum = try declaration.adding(amount, to: now, field: field)
                return try OutputPlan(sum, for: time, of: declaration)
            }
        )
    }

    private func answer(_ value: Promise<JSONValue>) -> Awaited<BusinessOutcome> {
        .wait(for: value) { .result($0) }
    }
}

extension ValueDeclaration {
    /// Why an input cannot be set, in a sentence.
    func refusalToSet(_ name: String) -> String {
        let says = "'\(name)' cannot be set: it is read from \(binding?.key ?? "its hardware")"
        guard case .gpio? = binding else { return says }
        return "\(says), which is an output only with 'output: true'"
    }
}
