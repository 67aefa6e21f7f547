public import Logging
public import QuickConnect

/// What the command objects get when they are made: the router, the devices, and facts about the daemon.
public struct Dependencies: Sendable {
    public var soundPlayer: any SoundPlayer
    public var filePlayer: any FilePlayer
    public var recorder: any Recorder
    public var mediaLibrary: any MediaLibrary
    public var mediaTransfer: any MediaTransfer
    public var locationProvider: any LocationProvider
    public var volumeControl: any VolumeControl
    public var haptics: any Haptics
    public var motionSensor: any MotionSensor
    public var serviceBrowser: any ServiceBrowser
    /// What `simulate` moves; none without `--simulate`.
    public var simulated: [SimulatedInput]
    /// The path of a file of the media folder. Blocks; throws `invalid` or `notFound`.
    public var mediaPath: @Sendable (_ name: String) throws(CommandError) -> String
    /// The front controller, the events and the handlers.
    public var router: Router
    public var permissions: Permissions
    /// The sockets of gateways, for `can` about their users.
    public var gateways: [SocketRule]
    /// What `doctor` checks, in this order.
    public var examined: [any Examined]
    /// Reads the mappings again and uses them. Throws `invalid` with the mistakes and keeps the old table.
    public var reload: @Sendable () async throws(CommandError) -> Reloaded
    public var accounts: any UserAccounts
    public var identity: Identity
    /// The time of day, in seconds since 1970.
    public var now: @Sendable () -> Double
    public var logger: Logger

    public init(
        router: Router,
        permissions: Permissions,
        gateways: [SocketRule] = [],
        soundPlayer: any SoundPlayer,
        filePlayer: any FilePlayer,
        recorder: any Recorder,
        mediaLibrary: any MediaLibrary,
        mediaTransfer: any MediaTransfer,
        locationProvider: any LocationProvider,
        volumeControl: any VolumeControl,
        haptics: any Haptics,
        motionSensor: any MotionSensor,
        serviceBrowser: any ServiceBrowser,
        simulated: [SimulatedInput] = [],
        mediaPath: @escaping @Sendable (_ name: String) throws(CommandError) -> String,
        examined: [any Examined],
        accounts: any UserAccounts,
        identity: Identity,
        now: @escaping @Sendable () -> Double,
        logger: Logger,
        reload: @escaping @Sendable () async throws(CommandError) -> Reloaded
    ) {
        self.router = router
        self.permissions = permissions
        self.gateways = gateways
        self.soundPlayer = soundPlayer
        self.filePlayer = filePlayer
        self.recorder = recorder
        self.mediaLibrary = mediaLibrary
        self.mediaTransfer = mediaTransfer
        self.locationProvider = locationProvider
        self.volumeControl = volumeControl
        self.haptics = haptics
        self.motionSensor = motionSensor
        self.serviceBrowser = serviceBrowser
        self.simulated = simulated
        self.mediaPath = mediaPath
        self.examined = examined
        self.accounts = accounts
        self.identity = identity
        self.now = now
        self.logger = logger
        self.reload = reload
    }

    /// All devices, for `state` and `stop`.
    var devices: [any Device] {
        [filePlayer, soundPlayer, recorder, haptics, locationProvider, motionSensor, serviceBrowser]
    }
}
