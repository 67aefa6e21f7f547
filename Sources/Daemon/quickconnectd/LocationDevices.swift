import Configuration
import GPSDLocation
import Logging
import QuickConnect

/// The source of the position: gpsd, or a recorded track.
struct LocationDevices {
    let provider: GPSDLocationProvider
    private let doctor: LocationDoctor
    /// What a person may move by hand; nil for a real receiver.
    let simulated: SimulatedInput?

    init(_ settings: Settings, logger: Logger) {
        simulated = settings.simulate ? GPSDLocationProvider.position(track: settings.track) : nil
        let (host, port) = (settings.gpsd.host, settings.gpsd.port)
        provider =
            simulated.map { GPSDLocationProvider(simulated: $0, logger: logger) }
            ?? GPSDLocationProvider(host: host, port: port, logger: logger)
        doctor = simulated.map { LocationDoctor(simulated: $0) } ?? LocationDoctor(host: host, port: port)
    }

    /// What is simulated, a sentence each.
    var simulationNotes: [String] {
        simulated.map { ["the position is simulated: it is that of the track \($0.track)"] } ?? []
    }

    var events: [any EventSource] { [provider.event] }
    var examined: [any Examined] { [doctor] }

    func close() async { await provider.close() }
}
