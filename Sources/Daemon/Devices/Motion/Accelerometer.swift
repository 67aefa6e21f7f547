internal import Glibc
import Linux
internal import QuickConnect

/// An accelerometer of the kernel's IIO subsystem, as sysfs describes it.
struct Accelerometer: Sendable {
    /// `iio:device0` and so on.
    let device: String
    /// The sysfs folder of all devices and triggers.
    let root: SysfsFolder
    let folder: SysfsFolder
    /// The file that its buffer is read from.
    let node: String
    /// The name of its chip or driver, such as `accel_3d` or `kxcjk1013`.
    let name: String

    init?(device: String, root: String, nodes: String) {
        let folder = SysfsFolder(path: "\(root)/\(device)")
        guard Self.attributes.contains(where: { folder.has("in_accel_x_\($0)") }) || folder.has(Self.scanElement) else {
            return nil
        }
        (self.device, self.folder, self.root) = (device, folder, SysfsFolder(path: root))
        node = "\(nodes)/\(device)"
        name = folder.textIfAny("name") ?? device
    }

    /// A channel's attributes: `raw` without the scale, `input` with it.
    private static let attributes = ["raw", "input"]
    private static let scanElement = "scan_elements/in_accel_x_en"

    /// Such as `accel_3d (iio:device0)`.
    var description: String { name == device ? device : "\(name) (\(device))" }

    /// Its location in the device. A tablet with a keyboard has one in each half; the one in the screen counts.
    var isOfTheScreen: Bool { ["accel-display", "lid"].contains(place) }
    var isOfTheKeyboard: Bool { ["accel-base", "base"].contains(place) }
    private var place: String { folder.text(ofFirst: ["label", "location"]) ?? "" }

    /// Reads one of the three axes now, in the unit that ``conversion`` takes. If the driver wakes its chip for each
    /// value, this takes seconds.
    func read(axis: Int, _ conversion: Conversion) throws(SystemCallError) -> Double {
        let name = ScanLayout.axisNames[axis]
        let text = try folder.text("\(name)_\(conversion.attribute)")
        guard let value = Double(text: text) else { throw SystemCallError("reading \(name), '\(text)'", EINVAL) }
        return value
    }

    /// Converts its values to g along the device's axes.
    /// - Parameter matrix: the owner's matrix, applied after the kernel's.
    func conversion(_ matrix: Matrix?) -> Conversion {
        let own = folder.text(ofFirst: Self.matrixNames).flatMap { Matrix(text: $0) } ?? .identity
        guard folder.has("in_accel_x_raw") || folder.has(Self.scanElement) else {
            return Conversion(attribute: "input", matrix: (matrix ?? .identity) * own)
        }
        var conversion = Conversion(attribute: "raw", matrix: (matrix ?? .identity) * own)
        for (index, axis) in ScanLayout.axisNames.enumerated() {
            conversion.scale[index] = folder.number(ofFirst: ["\(axis)_scale", "in_accel_scale"]) ?? 1
            conversion.offset[index] = folder.number(ofFirst: ["\(axis)_offset", "in_accel_offset"]) ?? 0
        }
        return conversion
    }

    /// Whether its mount matrix, if it has one under the names that drivers use, can be parsed.
    var hasReadableMatrix: Bool { folder.text(ofFirst: Self.matrixNames).map { Matrix(text: $0) != nil } ?? true }
    private static let matrixNames = ["in_accel_mount_matrix", "mount_matrix", "in_mount_matrix"]
}

/// Converts a channel's values to g: (value + offset) · scale is in m/s² (Documentation/ABI/testing/sysfs-bus-iio), and
/// the mount matrix rotates it.
struct Conversion: Sendable {
    /// The attribute: `raw`, or `input`, whose values are already in m/s².
    var attribute: String
    var offset = Vector()
    var scale = Vector(repeating: 1)
    var matrix: Matrix

    init(attribute: String, matrix: Matrix) {
        self.attribute = attribute
        self.matrix = matrix
    }

    func acceleration(_ values: Vector, at time: SensorTime? = nil) -> Acceleration {
        let turned = matrix * ((values + offset) * scale) / Acceleration.standardGravity
        return Acceleration(x: turned.x, y: turned.y, z: turned.z, time: time)
    }
}
