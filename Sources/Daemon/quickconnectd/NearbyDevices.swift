import AvahiBrowsing
import Configuration
import Logging
import QuickConnect

/// The source of services nearby: Avahi, or a simulated network.
struct NearbyDevices {
    let browser: AvahiBrowser
    private let isSimulated: Bool

    init(_ settings: Settings, logger: Logger) {
        isSimulated = settings.simulate
        browser = AvahiBrowser(isSimulated: settings.simulate, logger: logger)
    }

    /// What is simulated, a sentence each.
    var simulationNotes: [String] {
        isSimulated ? ["the services nearby are simulated: a camera, and a printer that comes and goes"] : []
    }

    var events: [any EventSource] { [browser.event] }
    var examined: [any Examined] { [NearbyDoctor(browser)] }

    func close() async { await browser.close() }
}
