import Commands
import Concurrency
import JSON
import Logging
public import QuickConnect

/// The shipped command objects, on a device that has nothing.
public enum ShippedCatalog {
    public static func make(_ router: Router, _ permissions: Permissions) -> [String: any CommandObject] {
        let device = NoDevice()
        return Catalog.make(
            Dependencies(
                router: router,
                permissions: permissions,
                devices: device,
                examined: [],
                accounts: device,
                identity: Identity(version: "test", simulated: []),
                now: { 0 },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                reload: { () async throws(CommandError) in Reloaded() }
            )
        )
    }

    private struct NoDevice: SoundPlayer, FilePlayer, Recorder, MediaLibrary, MediaTransfer, LocationProvider,
        VolumeControl, Haptics, MotionSensor, ServiceBrowser, UserAccounts, CommandDevices
    {
        var soundPlayer: any SoundPlayer { self }
        var filePlayer: any FilePlayer { self }
        var recorder: any Recorder { self }
        var mediaLibrary: any MediaLibrary { self }
        var mediaTransfer: any MediaTransfer { self }
        var locationProvider: any LocationProvider { self }
        var volumeControl: any VolumeControl { self }
        var haptics: any Haptics { self }
        var motionSensor: any MotionSensor { self }
        var serviceBrowser: any ServiceBrowser { self }
        var all: [any QuickConnect.Device] { [self] }
        let simulatedInputs: [SimulatedInput] = []
        let sounds: [SystemSound] = []

        func mediaPath(of name: String) throws(CommandError) -> String {
            throw CommandError(.unsupported, "this device has nothing")
        }

        func hardware() async -> JSONValue {
            ["gpio": [], "leds": [], "pwm": [], "sensors": [], "inputs": [], "refused": []]
        }

        func state() -> JSONObject { [:] }
        func stop(mayEnd: @Sendable (Caller) -> Bool) {}
        func caller(forUser name: String) async -> Caller? { nil }

        func play(sound number: Int, for caller: Caller) -> Promise<Void> { unsupported() }
        func start(_ file: String, _ options: PlayOptions, for caller: Caller) -> Promise<Void> { unsupported() }
        func start(_: String, _: RecordingOptions, for rights: FileRights) -> Promise<Void> { unsupported() }
        func record(_: String, _: RecordingOptions, for rights: FileRights) -> Promise<Recording> { unsupported() }
        func list() -> Promise<[MediaFile]> { unsupported() }
        func remove(_ file: String, for rights: FileRights) -> Promise<Void> { unsupported() }
        func write(_: UploadPiece, for _: FileRights, on _: any CallConnection) -> Promise<MediaPiece?> {
            unsupported()
        }

        func read(
            _ file: String,
            from offset: Int,
            atMost bytes: Int,
            for rights: FileRights,
            on connection: any CallConnection
        ) -> Promise<MediaPiece> { unsupported() }

        func volume(applying change: VolumeChange?) -> Promise<Volume> { unsupported() }

        func position(_ wish: PositionWish, for caller: Caller) async throws(CommandError) -> Position {
            throw CommandError(.unsupported, "this device has nothing")
        }

        func vibrate(_ pattern: VibrationPattern, for caller: Caller) -> Promise<Void> { unsupported() }
        func end(_ vibration: Promise<Void>) {}

        func acceleration(for caller: Caller) async throws(CommandError) -> Acceleration {
            throw CommandError(.unsupported, "this device has nothing")
        }

        func services(
            _ search: ServiceSearch,
            within time: Duration,
            for caller: Caller
        ) async throws(CommandError) -> [NearbyService] {
            throw CommandError(.unsupported, "this device has nothing")
        }

        func change(
            _ file: String,
            _ change: PlayChange,
            mayEnd: @escaping @Sendable (Caller) -> Bool
        ) -> Promise<Void> { unsupported() }

        func stop(_ file: String, mayEnd: @escaping @Sendable (Caller) -> Bool) -> Promise<Recording> { unsupported() }

        private func unsupported<Value>() -> Promise<Value> {
            let promise = Promise<Value>()
            promise.fail(CommandError(.unsupported, "this device has nothing"))
            return promise
        }
    }
}
