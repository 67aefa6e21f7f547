import CWebKit
import JSON
import QuickConnectClient

/// Answers `navigator.geolocation` with the daemon's position, real or simulated. The daemon uses the receiver only
/// while a page asks.
final class PagePosition {
    private let manager: UnsafeMutablePointer<WebKitGeolocationManager>
    private let daemon: DaemonHost
    private var isWanted = false

    init?(_ context: UnsafeMutablePointer<WebKitWebContext>, _ daemon: DaemonHost) {
        guard let manager = webkit_web_context_get_geolocation_manager(context) else { return nil }
        self.manager = manager
        self.daemon = daemon
        connect(manager, asking: "start") { [unowned self] _ in
            start()
            return true
        }
        connect(manager, "stop") { [unowned self] _ in stop() }
    }

    private func start() {
        isWanted = true
        daemon.subscribe(to: "location") { [weak self] value in self?.send(value) }
        // The event comes with the next fix; this call returns at once what is known, or why nothing is.
        let accurate = webkit_geolocation_manager_get_enable_high_accuracy(manager) != 0
        let options: JSONValue = ["maximumAge": 5000, "enableHighAccuracy": .bool(accurate)]
        daemon.call("location", .array([options])) { [weak self] result in
            switch result {
            case .success(let value): self?.send(value)
            case .failure(let failure): self?.fail(failure.message)
            }
        }
    }

    private func stop() {
        isWanted = false
        daemon.unsubscribe(from: "location")
    }

    private func fail(_ reason: String) {
        if isWanted { webkit_geolocation_manager_failed(manager, reason) }
    }

    private func send(_ value: JSONValue) {
        func number(_ name: String) -> Double? { value.objectValue?[name]?.numberValue }
        guard isWanted, let latitude = number("latitude"), let longitude = number("longitude") else { return }
        // The page needs a number; without one from the receiver, assume no better than this.
        let position = webkit_geolocation_position_new(latitude, longitude, number("accuracy") ?? 100)
        defer { webkit_geolocation_position_free(position) }
        if let timestamp = number("timestamp"), timestamp >= 0 {
            webkit_geolocation_position_set_timestamp(position, guint64(timestamp / 1000))
        }
        if let altitude = number("altitude") { webkit_geolocation_position_set_altitude(position, altitude) }
        if let accuracy = number("altitudeAccuracy") {
            webkit_geolocation_position_set_altitude_accuracy(position, accuracy)
        }
        if let heading = number("heading") { webkit_geolocation_position_set_heading(position, heading) }
        if let speed = number("speed") { webkit_geolocation_position_set_speed(position, speed) }
        webkit_geolocation_manager_update_position(manager, position)
    }
}
