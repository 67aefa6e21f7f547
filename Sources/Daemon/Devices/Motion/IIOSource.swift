internal import Glibc
import Linux
internal import QuickConnect

/// The accelerometer among the IIO devices of this machine. It is found by its channels, and searched for each time.
struct IIOSource: MotionSource {
    /// The device named in the settings, by its IIO name or as `iio:device0`; nil: the first that is an accelerometer.
    let named: String?
    /// The owner's matrix.
    let matrix: Matrix?
    /// The sysfs folder of the devices, `/sys/bus/iio/devices`.
    let root: String
    /// The folder of their buffers, `/dev`.
    let nodes: String
    /// The folder of udev's database, `/run/udev/data`.
    let database: String
    private let silence = SilentBuffers()

    let description = "the accelerometer"

    /// The most devices that an error lists.
    private static let listed = 16

    func check() throws(CommandError) { _ = try find() }

    func open(rate: Double) throws(CommandError) -> any MotionStream {
        let sensor = try find()
        switch BufferedStream.open(sensor, sensor.conversion(matrix), rate: rate, silence) {
        case .success(let stream): return stream
        case .failure(let reason): return try PolledStream(sensor, sensor.conversion(matrix), rate: rate, reason)
        }
    }

    func examine(_ goesOn: () -> Void) -> Finding {
        do throws(CommandError) { return examine(try find(), goesOn) } catch {
            guard error.code == .unsupported else { return Finding("motion", error) }
            return Finding("motion", .warning, error.message)
        }
    }

    private func examine(_ sensor: Accelerometer, _ goesOn: () -> Void) -> Finding {
        let conversion = sensor.conversion(matrix)
        let obstacle = BufferedStream.obstacle(of: sensor) ?? silence.obstacle(of: sensor)
        let way = obstacle.map { "is polled (\($0.text))" } ?? "has a buffer"
        guard sensor.hasReadableMatrix else {
            return Finding("motion", .error, "the mount matrix of \(sensor.description) cannot be read")
        }
        do throws(SystemCallError) {
            var values = Vector()
            for axis in 0..<3 {
                values[axis] = try sensor.read(axis: axis, conversion)
                goesOn()
            }
            let measured = conversion.acceleration(values)
            let length = (measured.x * measured.x + measured.y * measured.y + measured.z * measured.z).squareRoot()
            let text = (length * 100).rounded() / 100
            let state: Finding.State = obstacle?.isSilent == true ? .warning : .ok
            return Finding("motion", state, "\(sensor.description) measures \(text) g and \(way)")
        } catch {
            // While its buffer runs, for the daemon or another program, many drivers refuse single values.
            guard error.code != EBUSY else { return Finding("motion", .ok, "\(sensor.description) runs and \(way)") }
            return Finding(
                "motion",
                .error,
                "\(sensor.description) cannot be read: \(error)",
                tried: [sensor.folder.path]
            )
        }
    }

    // MARK: Looking

    /// The screen's sensor comes first, the keyboard's only if there is no other.
    private func find() throws(CommandError) -> Accelerometer {
        let devices = devices
        let sensors = devices.compactMap { Accelerometer(device: $0, root: root, nodes: nodes, database: database) }
        if let named {
            if let sensor = sensors.first(where: { $0.name == named || $0.device == named }) { return sensor }
            throw missing(devices, "no accelerometer '\(named)', which the settings name")
        }
        let sensor =
            sensors.first(where: \.isOfTheScreen) ?? sensors.first { !$0.isOfTheKeyboard } ?? sensors.first
        guard let sensor else { throw missing(devices, "no accelerometer") }
        return sensor
    }

    /// In the order of their numbers.
    private var devices: [String] {
        let names = FileText.names(in: root) ?? []
        let numbers = names.compactMap { $0.hasPrefix("iio:device") ? Int($0.dropFirst(10)) : nil }
        return numbers.sorted().map { "iio:device\($0)" }
    }

    private func missing(_ devices: [String], _ what: String) -> CommandError {
        let looked = devices.prefix(Self.listed).map { device in
            SysfsFolder(path: "\(root)/\(device)").textIfAny("name").map { "\(device) (\($0))" } ?? device
        }
        let more = devices.count > Self.listed ? " and \(devices.count - Self.listed) more" : ""
        let search = looked.isEmpty ? "\(root) has no devices" : "looked at \(looked.joined(separator: ", "))\(more)"
        return CommandError(.unsupported, "this device has \(what): \(search)")
    }
}
