package import JSON
package import Logging
package import QuickConnect

/// The devices of the command objects.
package protocol CommandDevices: Sendable {
    var soundPlayer: any SoundPlayer { get }
    var filePlayer: any FilePlayer { get }
    var recorder: any Recorder { get }
    var mediaLibrary: any MediaLibrary { get }
    var mediaTransfer: any MediaTransfer { get }
    var locationProvider: any LocationProvider { get }
    var volumeControl: any VolumeControl { get }
    var haptics: any Haptics { get }
    var motionSensor: any MotionSensor { get }
    var serviceBrowser: any ServiceBrowser { get }
    /// What `state` shows and `stop` ends.
    var all: [any Device] { get }
    /// What `simulate` moves; none without `--simulate`.
    var simulatedInputs: [SimulatedInput] { get }

    /// What values can be bound to: ``HardwareBCO``.
    func hardware() async -> JSONValue

    /// The path of a file of the media folder. Blocks; throws `invalid` or `notFound`.
    func mediaPath(of name: String) throws(CommandError) -> String
}

/// What the command objects get when they are made: the router, the devices, and facts about the daemon.
package struct Dependencies: Sendable {
    package let router: Router
    package let permissions: Permissions
    package let gateways: [SocketRule]
    package let devices: any CommandDevices
    package let simulated: SimulatedHardware
    package let examined: [any Examined]
    package let accounts: any UserAccounts
    package let identity: Identity
    package let now: @Sendable () -> Double
    package let schedule: @Sendable (String) -> JSONValue?
    package let logger: Logger
    package let registered: @Sendable (_ handler: String, Caller) -> Void
    package let reload: @Sendable () async throws(CommandError) -> Reloaded

    /// - Parameters:
    ///   - router: the front controller, the events and the handlers.
    ///   - gateways: the sockets of gateways, for `can` about their users.
    ///   - simulated: what of the declared hardware a person moves.
    ///   - examined: what `doctor` checks, in this order.
    ///   - schedule: what is known of a schedule's runs, as its command answers; nil if there is none of that name.
    ///   - now: the time of day, in seconds since 1970.
    ///   - registered: told of each handler that has come, and of whose it is. Must not block.
    ///   - reload: reads the mappings again and uses them. Throws `invalid` with the mistakes and keeps the old table.
    package init(
        router: Router,
        permissions: Permissions,
        gateways: [SocketRule] = [],
        devices: any CommandDevices,
        simulated: SimulatedHardware = .none,
        examined: [any Examined],
        accounts: any UserAccounts,
        identity: Identity,
        schedule: @escaping @Sendable (String) -> JSONValue? = { _ in nil },
        now: @escaping @Sendable () -> Double,
        logger: Logger,
        registered: @escaping @Sendable (_ handler: String, Caller) -> Void = { _, _ in },
        reload: @escaping @Sendable () async throws(CommandError) -> Reloaded
    ) {
        self.router = router
        self.permissions = permissions
        self.gateways = gateways
        self.devices = devices
        self.simulated = simulated
        self.examined = examined
        self.accounts = accounts
        self.identity = identity
        self.schedule = schedule
        self.now = now
        self.logger = logger
        self.registered = registered
        self.reload = reload
    }
}
