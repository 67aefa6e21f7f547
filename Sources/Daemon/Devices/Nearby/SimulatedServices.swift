import Concurrency
internal import JSON
internal import QuickConnect

/// Two services for machines without a network: a camera that stays, and a printer that disappears and returns.
struct SimulatedServices: ServiceSource {
    let description = "the simulated network"
    /// How long the printer is present, and then absent.
    var period = Duration.seconds(3)

    func open() throws(CommandError) -> any ServiceStream { SimulatedStream(period) }

    func examine() -> Finding { Finding("nearby", .ok, "\(description) has a camera and a printer") }
}

private final class SimulatedStream: ServiceStream {
    private let start = ContinuousClock.now
    private let period: Duration
    private var searches: Set<ServiceSearch> = []

    private static let camera = NearbyService(
        .init(name: "Garden Camera", type: "_http._tcp", domain: "local"),
        host: "camera.local",
        address: "192.0.2.7",
        port: 80,
        txt: ["path": "/live"]
    )
    private static let printer = NearbyService(
        .init(name: "Hall Printer", type: "_ipp._tcp", domain: "local"),
        host: "printer.local",
        address: "192.0.2.9",
        port: 631,
        txt: ["Color": "T", "ty": "Simulated"]
    )

    init(_ period: Duration) { self.period = period }

    func look(for searches: Set<ServiceSearch>) { self.searches = searches }

    var found: [ServiceSearch: Found] {
        let here = turns.isMultiple(of: 2) ? [Self.camera, Self.printer] : [Self.camera]
        let pairs = searches.map { search in
            let fitting = here.filter { search.type == nil || $0.id.type == search.type }
            let services = Dictionary(uniqueKeysWithValues: fitting.map { ($0.id, $0) })
            return (search, Found(services: services, isComplete: true))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    func wait(_ waker: Waker, until end: ContinuousClock.Instant) {
        _ = waker.sleep(until: min(end, start + period * (turns + 1)))
    }

    /// How often the printer has appeared or disappeared.
    private var turns: Int { Int(start.duration(to: .now) / period) }
}
