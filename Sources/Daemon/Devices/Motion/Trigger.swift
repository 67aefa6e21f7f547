import Linux

/// The trigger that fills an accelerometer's buffer: the one that its driver has set, or one of its own. A buffer
/// without the attribute needs none.
struct Trigger {
    private let folder: SysfsFolder
    private let own: String?
    private let isNeeded: Bool

    init(_ sensor: Accelerometer) {
        folder = sensor.folder
        let current = folder.textIfAny("trigger/current_trigger")
        isNeeded = current.map { $0.isEmpty } ?? false
        own = isNeeded ? Self.own(of: sensor) : nil
    }

    var obstacle: BufferObstacle? {
        isNeeded && own == nil ? BufferObstacle("its buffer has no trigger") : nil
    }

    func choose() throws(SystemCallError) {
        guard isNeeded, let own else { return }
        try folder.write(own, to: "trigger/current_trigger")
    }

    /// Drivers name their triggers after the device, `NAME-dev0` or `NAME-any-motion-dev0`; the plain one fires for
    /// each new value, the others only for some.
    private static func own(of sensor: Accelerometer) -> String? {
        let number = sensor.device.drop { !$0.isNumber }
        let wanted = "\(sensor.name)-dev\(number)"
        let triggers = sensor.root.names().filter { $0.hasPrefix("trigger") }
        let names = triggers.compactMap { sensor.root.textIfAny("\($0)/name") }
        return names.first { $0 == wanted }
    }
}
