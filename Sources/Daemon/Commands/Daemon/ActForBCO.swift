import JSON
import QuickConnect

/// `actFor [name, {groups}]`: the first call on a gateway's connection, which acts for that user from then on.
struct ActForBCO: BCO {
    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        let name = call.string(0) ?? ""
        guard GatewayName.isValid(name) else {
            throw .invalid("/0", expected: "name, \(GatewayName.expectation)", got: call.gist(0))
        }
        var options = try OptionReader(call.object(1), field: "/1", known: ["groups"])
        let groups = options.gatewayGroups("groups")
        try options.finish()
        try call.connection.act(for: name, groups: Set(groups))
        return .result(.null)
    }
}

extension OptionReader {
    /// The groups that a gateway names for a user.
    mutating func gatewayGroups(_ name: String) -> [String] {
        texts(name, atMost: 64, "each of \(GatewayName.expectation)", where: GatewayName.isValid)
    }
}
