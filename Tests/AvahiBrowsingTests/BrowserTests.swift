import Concurrency
import JSON
import QuickConnect
import TestRig
import Testing

@testable import AvahiBrowsing

@Suite(.serialized) struct BrowserTests {
    private let network = FakeNetwork()
    private let browser: AvahiBrowser
    private let router: Router

    init() {
        browser = AvahiBrowser(network, deadline: .seconds(10), logger: quiet)
        let (handlers, permissions) = (HandlerRegistry.none, Permissions(ownUID: 0))
        let controller = FrontController(
            table: MappingTable(),
            handlers: handlers,
            permissions: permissions,
            waitingCalls: WaitingCalls(clock: AlarmThread.shared)
        )
        router = Router(controller, handlers, EventHub(limits: Limits()))
        router.events.add(browser.event)
    }

    private func subscribe(_ options: JSONObject = [:]) throws -> (Subscriber, Connection) {
        let subscriber = Subscriber()
        let connection = Connection(caller: .daemon, router, output: subscriber)
        try router.events.subscribe(connection, to: ["nearby"], options: options, form: .url)
        return (subscriber, connection)
    }

    private func names(
        _ type: String? = nil,
        of browser: AvahiBrowser? = nil,
        within time: Duration = .seconds(5)
    ) async throws -> [String] {
        let search = try type.map { try #require(ServiceSearch(type: $0)) } ?? .all
        return try await (browser ?? self.browser).services(search, within: time, for: .daemon).map(\.id.name)
    }

    private func error(_ body: () async throws -> Void) async -> CommandError? {
        do {
            try await body()
            return nil
        } catch { return error as? CommandError }
    }

    @Test func `a call gets the services of its type by their names, and then nobody looks any more`() async throws {
        network.change { $0.services = [.fake("b"), .fake("a"), .fake("p", "_ipp._tcp")] }
        #expect(try await names("_http._tcp") == ["a", "b"])
        #expect(try await names() == ["a", "b", "p"])
        #expect(try await names("_ssh._tcp") == [])
        try await eventually("nobody looks") { !network.isOpen }
        #expect(browser.state() == ["browsing": []])
    }

    @Test func `what is not complete is answered at the timeout, with what there is`() async throws {
        network.change { ($0.services, $0.isComplete) = ([.fake("a")], false) }
        // What is measured is the wait of a call, not how soon a busy machine starts the thread that looks.
        let (subscriber, _connection) = try subscribe()
        try await eventually("a is found") { subscriber.told == ["+a"] }
        defer { withExtendedLifetime(_connection) {} }
        let time = try await seconds {
            let names = try await names(within: .milliseconds(300))
            #expect(names == ["a"])
        }
        #expect(time >= 0.3)
    }

    @Test func `callers and subscribers share one connection, and each search ends with its last`() async throws {
        let (_, connection) = try subscribe(["type": "_http._tcp"])
        let (_, other) = try subscribe()
        try await eventually("both are looked for") { network.searches.count == 2 }
        _ = try await names("_ipp._tcp")
        router.events.unsubscribeAll(connection)
        try await eventually("one is left") { network.searches == [.all] }
        router.events.unsubscribeAll(other)
        try await eventually("nobody looks") { !network.isOpen }
    }

    @Test func `a subscriber is told what is here, what comes, what changes and what goes`() async throws {
        network.change { $0.services = [.fake("a")] }
        let (subscriber, _) = try subscribe()
        try await eventually("a is here") { subscriber.told == ["+a"] }
        network.change { $0.services.append(.fake("b")) }
        try await eventually("b comes") { subscriber.told == ["+a", "+b"] }
        network.change { $0.services[0].address = "192.0.2.2" }
        try await eventually("a is elsewhere") { subscriber.told == ["+a", "+b", "+a"] }
        network.change { $0.services.removeLast() }
        try await eventually("b goes") { subscriber.told == ["+a", "+b", "+a", "-b"] }
        await browser.close()
    }

    @Test func `one who comes later is told what is here, and others of another type hear nothing of it`() async throws
    {
        network.change { $0.services = [.fake("a"), .fake("p", "_ipp._tcp")] }
        let (printers, _) = try subscribe(["type": "_ipp._tcp"])
        try await eventually("the printer is here") { printers.told == ["+p"] }
        let (all, _) = try subscribe()
        try await eventually("both are here") { all.told.sorted() == ["+a", "+p"] }
        let (late, _) = try subscribe(["type": "_ipp._tcp"])
        try await eventually("the late one is told") { late.told == ["+p"] }
        #expect(all.told.count == 2)
        await browser.close()
    }

    @Test func `what cannot be seen is gone, and is there again with Avahi`() async throws {
        network.change { $0.services = [.fake("a")] }
        let (subscriber, _) = try subscribe()
        try await eventually("a is here") { subscriber.told == ["+a"] }
        network.change { $0.failure = CommandError(.unavailable, "it does not run") }
        try await eventually("a is gone") { subscriber.told == ["+a", "-a"] }
        #expect(await error { _ = try await names() }?.message == "it does not run")
        network.change { $0.failure = nil }
        try await eventually("a is back") { subscriber.told == ["+a", "-a", "+a"] }
        await browser.close()
    }

    @Test func `one that hangs costs a caller the deadline, and works again when it comes back`() async throws {
        network.change { ($0.hangsFor, $0.services) = (.milliseconds(1500), [.fake("a")]) }
        let browser = AvahiBrowser(network, deadline: .milliseconds(400), logger: quiet)
        #expect(await error { _ = try await names(of: browser) }?.code == .timeout)
        #expect(await browser.examine().state == .ok)
        network.change { $0.hangsFor = .zero }
        try await eventually("it answers") { (try? await names(of: browser)) == ["a"] }
    }

    @Test func `a caller whose time is up before anything is known gets a timeout, and no empty list`() async throws {
        network.change { $0.hangsFor = .milliseconds(300) }
        let error = await error { _ = try await names(within: .milliseconds(100)) }
        #expect(error?.code == .timeout && error?.message.contains("the fake network") == true)
    }

    @Test func `more types at once than there is room for are overloaded, known ones not`() async throws {
        var connections: [Connection] = []
        for number in 1...32 { connections.append(try subscribe(["type": .string("_t\(number)._tcp")]).1) }
        #expect(await error { _ = try await names("_t33._tcp") }?.code == .overloaded)
        #expect(await error { _ = try subscribe(["type": "_t33._tcp"]) }?.code == .overloaded)
        #expect(try await names("_t7._tcp") == [])
        await browser.close()
    }

    @Test(
        arguments: [
            ["type": 7], ["type": "http"], ["type": "_http"], ["type": "_http._sctp"], ["type": "_._tcp"], ["rate": 1],
            ["type": "_a b._tcp"], ["type": "_http._tcp."], ["type": "_\u{e4}._tcp"],
        ] as [JSONObject]
    )
    func `options that do not fit are invalid`(options: JSONObject) async throws {
        #expect(await error { _ = try subscribe(options) }?.code == .invalid)
        #expect(!network.isOpen)
    }

    @Test func `a call that is cancelled, and the daemon's end, end the wait`() async throws {
        network.change { $0.isComplete = false }
        let waiting = Task { try await names(within: .seconds(60)) }
        try await eventually("it waits") { browser.state() != ["browsing": []] }
        waiting.cancel()
        #expect(await error { _ = try await waiting.value }?.code == .cancelled)
        let other = Task { try await names(within: .seconds(60)) }
        try await eventually("it waits") { browser.state() != ["browsing": []] }
        await browser.close()
        #expect(await error { _ = try await other.value }?.code == .cancelled)
    }
}

@Suite struct SightingTests {
    private func sighting(_ interface: Int32, _ family: Int32) -> Sighting {
        Sighting(id: NearbyService.fake("a").id, interface: interface, family: family)
    }

    @Test func `a service that is seen in several ways is told once, by IPv4 where it has it`() {
        var sightings = Sightings()
        let addresses = ["fe80::1%eth0", "2001:db8::1", "192.0.2.9", "192.0.2.8"]
        for (index, address) in addresses.enumerated() {
            sightings[sighting(Int32(index), 0)] = .resolving
            #expect(!sightings.isResolved)
            sightings[sighting(Int32(index), 0)] = .resolved(.fake("a", address: address))
            #expect(sightings.services.values.map(\.address) == [index == 3 ? "192.0.2.8" : address])
        }
        for index in [3, 2] as [Int32] { sightings[sighting(index, 0)] = nil }
        #expect(sightings.services.values.map(\.address) == ["2001:db8::1"])
        sightings[sighting(1, 0)] = .unresolved
        #expect(sightings.services.values.map(\.address) == ["fe80::1%eth0"] && sightings.isResolved)
    }

    @Test func `a record's first key counts, one without a value is true, and bytes that are no text are replaced`() {
        var record: JSONObject = [:]
        var keys: Set<String> = []
        for entry in ["path=/a=b", "path=/c", "Path=/d", "flag", "FLAG=1", "empty=", "=nothing", ""] {
            AvahiText.add(Array(entry.utf8), to: &record, &keys)
        }
        AvahiText.add(Array("raw=".utf8) + [0xff], to: &record, &keys)
        #expect(record == ["path": "/a=b", "flag": true, "empty": "", "raw": "\u{fffd}"])
    }
}
