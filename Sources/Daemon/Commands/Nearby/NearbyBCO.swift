import JSON
import QuickConnect

/// `nearby`: the services on the local network, of one type or of any, in the form of ``NearbyService/json``. Option:
/// `{timeout}` in milliseconds.
struct NearbyBCO: WaitingBCO {
    let touchesDevice = true
    let browser: any ServiceBrowser

    private static let defaultTimeout = 3000.0

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        var options = try OptionReader(call, 1, known: ["timeout"])
        let timeout = options.number("timeout", in: 100...60_000, "milliseconds") ?? Self.defaultTimeout
        try options.finish()
        let search = try Self.search(call.string(0))
        let caller = call.caller
        return .wait { () async throws(CommandError) in
            let services = try await browser.services(search, within: .milliseconds(timeout), for: caller)
            return .result(.array(services.map { .object($0.json) }))
        }
    }

    private static func search(_ type: String?) throws(CommandError) -> ServiceSearch {
        guard let type else { return .all }
        guard let search = ServiceSearch(type: type) else {
            throw .invalid("/0", expected: "a service type such as _http._tcp", got: JSONValue.string(type).gist)
        }
        return search
    }
}
