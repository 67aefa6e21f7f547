import JSON
import QuickConnect

/// Says which of the owner's entries the users of gateways may reach, and why: by its own rule, or by the list of the gateway's
/// socket.
struct GatewayDoctor: Examined {
    /// The rules of the gateways' sockets.
    let sockets: [SocketRule]
    /// The folder of the shipped mappings; nil where no other folder has the owner's.
    let shipped: String?
    let entries: @Sendable () -> [MappingEntry]

    /// A finding names this many.
    private static let maxNames = 20

    func examine(thoroughly isThorough: Bool) async -> [Finding] {
        let own = entries().filter { !isShipped($0) }.sorted { $0.command < $1.command }
        return sockets.compactMap { reached(own, by: $0) } + missing(own)
    }

    private func isShipped(_ entry: MappingEntry) -> Bool {
        guard let shipped else { return false }
        return entry.files.contains { $0.hasPrefix("\(shipped)/") }
    }

    private func reached(_ own: [MappingEntry], by socket: SocketRule) -> Finding? {
        guard let gateway = socket.gateway?.name else { return nil }
        let byRule = own.filter { $0.gateways.contains(ByteName(gateway)) }
        // In one folder, nobody knows whose an entry is.
        let listed = shipped == nil ? [] : own.filter { socket.commands.contains(ByteName($0.command)) }
        let byList = listed.filter { !$0.gateways.contains(ByteName(gateway)) }
        var parts: [String] = []
        if !byRule.isEmpty { parts.append("by their own rules \(Self.names(byRule))") }
        if !byList.isEmpty { parts.append("by the list of its socket (\(socket.location)) \(Self.names(byList))") }
        guard !parts.isEmpty else { return nil }
        return Finding(
            "gateways",
            .ok,
            "users of the gateway '\(gateway)' reach of your own entries \(parts.joined(separator: "; ")). Each entry's rule says who of them"
        )
    }

    /// Entries for the users of a gateway that has no socket: a slip in its name, or a part that is not set up.
    private func missing(_ own: [MappingEntry]) -> [Finding] {
        let known = Set(sockets.compactMap { $0.gateway.map { ByteName($0.name) } })
        let named = own.reduce(into: Set<ByteName>()) { $0.formUnion($1.gateways) }
        return named.subtracting(known).map(\.text).sorted().map { gateway in
            let entries = own.filter { $0.gateways.contains(ByteName(gateway)) }
            let near = NearestNames.question(gateway, among: known.map(\.text))
            let places = entries.prefix(Self.maxNames).compactMap { $0.location?.description }
            return Finding(
                "gateways",
                .warning,
                "no socket of the settings has the gateway '\(gateway)', whose users \(Self.names(entries)) names\(near)",
                tried: places
            )
        }
    }

    private static func names(_ entries: [MappingEntry]) -> String {
        let more = entries.count > maxNames ? " and \(entries.count - maxNames) more" : ""
        return entries.prefix(maxNames).map(\.command).joined(separator: ", ") + more
    }
}
