import Concurrency
import JSON
import Linux
import Logging
import QuickConnect
import Synchronization

@testable import AvahiBrowsing

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// A network whose services the test says.
final class FakeNetwork: ServiceSource {
    struct State {
        var services: [NearbyService] = []
        var isComplete = true
        var failure: CommandError?
        var hangsFor = Duration.zero
        var isOpen = false
        var searches: Set<ServiceSearch> = []
        var waker: Waker?
    }

    let description = "the fake network"
    let state = Mutex(State())

    var isOpen: Bool { state.withLock { $0.isOpen } }
    var searches: Set<ServiceSearch> { state.withLock { $0.searches } }

    /// Changes something, and lets the stream see it.
    func change(_ change: (inout State) -> Void) {
        let waker = state.withLock { state in
            change(&state)
            return state.waker
        }
        waker?.wake()
    }

    func open() throws(CommandError) -> any ServiceStream {
        let (failure, hangsFor) = state.withLock { ($0.failure, $0.hangsFor) }
        if hangsFor > .zero, let waker = try? Waker() { _ = waker.sleep(until: .now + hangsFor) }
        if let failure { throw failure }
        state.withLock { $0.isOpen = true }
        return Stream(self)
    }

    func examine() -> Finding { Finding("nearby", .ok, "fake") }

    private final class Stream: ServiceStream {
        private let network: FakeNetwork

        init(_ network: FakeNetwork) { self.network = network }

        deinit { network.state.withLock { ($0.isOpen, $0.searches, $0.waker) = (false, [], nil) } }

        func look(for searches: Set<ServiceSearch>) throws(CommandError) {
            network.state.withLock { $0.searches = searches }
        }

        var found: [ServiceSearch: Found] {
            network.state.withLock { state in
                Dictionary(
                    uniqueKeysWithValues: state.searches.map { search in
                        let fitting = state.services.filter { search.type == nil || $0.id.type == search.type }
                        let services = Dictionary(uniqueKeysWithValues: fitting.map { ($0.id, $0) })
                        return (search, Found(services: services, isComplete: state.isComplete))
                    }
                )
            }
        }

        func wait(_ waker: Waker, until end: ContinuousClock.Instant) throws(CommandError) {
            network.state.withLock { $0.waker = waker }
            _ = waker.sleep(until: min(end, .now + .milliseconds(20)))
            if let failure = network.state.withLock({ $0.failure }) { throw failure }
        }
    }
}

extension NearbyService {
    static func fake(_ name: String, _ type: String = "_http._tcp", address: String = "192.0.2.1") -> NearbyService {
        NearbyService(.init(name: name, type: type, domain: "local"), host: "h.local", address: address, port: 80)
    }
}

/// A subscriber, which keeps what it is told: `+NAME`, `-NAME`.
final class Subscriber: ConnectionOutput {
    private let all = Mutex<[String]>([])

    var told: [String] { all.withLock { $0 } }

    func send(_ event: Event, form: WireForm) {
        guard let object = event.message.value.objectValue else { return }
        let name = object["name"]?.stringValue ?? "?"
        all.withLock { $0.append((object["here"] == true ? "+" : "-") + name) }
    }

    func write(_ line: (OutputBuffer) -> Void) {}
    func finish() {}
}
