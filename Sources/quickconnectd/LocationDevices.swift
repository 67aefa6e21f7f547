import Configuration
import GPSDLocation
import Logging
import QuickConnect

/// The source of the position: gpsd, or a recorded track.
struct LocationDevices {
    let provider: GPSDLocationProvider
    private let doctor: LocationDoctor
    private let track: String?

    init(_ settings: Settings, logger: Logger) {
        track = settings.simulate ? settings.track : nil
        let (host, port) = (settings.gpsd.host, settings.gpsd.port)
        provider =
            track.map { GPSDLocationProvider(track: $0, logger: logger) }
            ?? GPSDLocationProvider(host: host, port: port, logger: logger)
        doctor = track.map { LocationDoctor(track: $0) } ?? LocationDoctor(host: host, port: port)
    }

    /// What is simulated, a sentence each.
    var simulationNotes: [String] { track.map { ["the position is simulated: it is that of the track \($0)"] } ?? [] }

    var events: [any EventSource] { [provider.event] }
    var examined: [any Examined] { [doctor] }

    func close() async { await provider.close() }
}
