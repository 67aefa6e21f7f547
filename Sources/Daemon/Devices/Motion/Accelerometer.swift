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
    /// What udev knows of it: systemd's list of devices (60-sensor.hwdb), or the owner's rule, corrects what firmware says.
    private let properties: [String: String]

    /// - Parameter database: the folder of udev's database.
    init?(device: String, root: String, nodes: String, database: String) {
        let folder = SysfsFolder(path: "\(root)/\(device)")
        guard Self.attributes.contains(where: { folder.has("in_accel_x_\($0)") }) || folder.has(Self.scanElement) else {
            return nil
        }
        (self.device, self.folder, self.root) = (device, folder, SysfsFolder(path: root))
        node = "\(nodes)/\(device)"
        name = folder.textIfAny("name") ?? device
        properties = Self.properties(of: folder, device, in: database)
    }

    /// The lines `E:NAME=VALUE` of a device's file in udev's database, which is named after its number, or else its name.
    private static func properties(of folder: SysfsFolder, _ device: String, in database: String) -> [String: String] {
        let names = (folder.textIfAny("dev").map { ["c\($0)"] } ?? []) + ["+iio:\(device)"]
        let texts = names.lazy.compactMap { name in
            switch FileText.exact("\(database)/\(name)", maximumBytes: maxDatabaseBytes) {
            case .success(let text): text
            case .failure: nil
            }
        }
        let lines = (texts.first ?? "").split(separator: "\n").filter { $0.hasPrefix("E:") }
        let pairs = lines.map { $0.dropFirst(2).split(separator: "=", maxSplits: 1).map(String.init) }
        return Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { $1 }
    }

    private static let maxDatabaseBytes = 65_536

    /// A channel's attributes: `raw` without the scale, `input` with it.
    private static let attributes = ["raw", "input"]
    private static let scanElement = "scan_elements/in_accel_x_en"

    /// Such as `accel_3d (iio:device0)`.
    var description: String { name == device ? device : "\(name) (\(device))" }

    /// Its location in the device. A tablet with a keyboard has one in each half; the one in the screen counts.
    var isOfTheScreen: Bool { ["accel-display", "lid"].contains(place) }
    var isOfTheKeyboard: Bool { ["accel-base", "base"].contains(place) }
    private var place: String {
        switch properties["ACCEL_LOCATION"] {
        case "display": "accel-display"
        case "base": "accel-base"
        default: folder.text(ofFirst: ["label", "location"]) ?? ""
        }
    }

    /// Reads one of the three axes now, in the unit that ``conversion`` takes. If the driver wakes its chip for each
    /// value, this takes seconds.
    func read(axis: Int, _ conversion: Conversion) throws(SystemCallError) -> Double {
        let name = ScanLayout.axisNames[axis]
        let text = try folder.text("\(name)_\(conversion.attribute)")
        guard let value = Double(text: text) else { throw SystemCallError("reading \(name), '\(text)'", EINVAL) }
        return value
    }

    /// Converts its values to g along the device's axes.
    /// - Parameter matrix: the owner's matrix, applied after the sensor's own.
    func conversion(_ matrix: Matrix?) -> Conversion {
        let own = mountMatrix.flatMap { Matrix(text: $0) } ?? .identity
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

    /// Whether its mount matrix, if it has one, can be parsed.
    var hasReadableMatrix: Bool { mountMatrix.map { Matrix(text: $0) != nil } ?? true }

    /// Whether values can be read one by one.
    func hasSingleValues(_ conversion: Conversion) -> Bool { folder.has("in_accel_x_\(conversion.attribute)") }

    /// That of udev, or that of the kernel, under the names that drivers use.
    private var mountMatrix: String? { properties["ACCEL_MOUNT_MATRIX"] ?? folder.text(ofFirst: Self.matrixNames) }
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

    func acceleration(_ values: Vector, at time: SensorTime? = nil) -> Acceleration {
        let turned = matrix * ((values + offset) * scale) / Acceleration.standardGravity
        return Acceleration(x: turned.x, y: turned.y, z: turned.z, time: time)
    }
}

/// The attributes of a device in sysfs, one file each.
struct SysfsFolder: Sendable {
    let path: String

    /// No attribute is longer (sysfs(5): a page).
    private static let maxBytes = 4096

    func has(_ name: String) -> Bool { FileText.exists("\(path)/\(name)") }

    func mayWrite(_ name: String) -> Bool { access("\(path)/\(name)", W_OK) == 0 }

    /// The names of its files, or of the files in a subfolder.
    func names(in folder: String = ".") -> [String] { FileText.names(in: "\(path)/\(folder)") ?? [] }

    /// The text of an attribute, without white space around it, up to a NUL: `current_timestamp_clock` has one.
    func text(_ name: String) throws(SystemCallError) -> String {
        let file = try open(name, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.maxBytes)
        let count = try SystemCallError.check("reading \(name)") { Int32(read(file, &bytes, bytes.count)) }
        let text = String(decoding: bytes.prefix(Int(count)).prefix { $0 != 0 }, as: UTF8.self)
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? text.startIndex
        return String(text[..<end].drop(while: \.isWhitespace))
    }

    /// The same; nil if it is missing or cannot be read.
    func textIfAny(_ name: String) -> String? {
        do throws(SystemCallError) { return try text(name) } catch { return nil }
    }

    /// The text of the first of these attributes that exists.
    func text(ofFirst names: [String]) -> String? {
        names.lazy.compactMap { self.textIfAny($0) }.first
    }

    func number(ofFirst names: [String]) -> Double? { text(ofFirst: names).flatMap { Double(text: $0) } }

    func write(_ text: String, to name: String) throws(SystemCallError) {
        let file = try open(name, O_WRONLY | O_TRUNC)
        defer { close(file) }
        let code = Descriptor.write(text, to: file)
        if code != 0 { throw SystemCallError("writing \(text) to \(name)", code) }
    }

    /// The same for a setting that is useful but not required.
    func writeIfPossible(_ text: String, to name: String) {
        do throws(SystemCallError) { try write(text, to: name) } catch {}
    }

    private func open(_ name: String, _ flags: Int32) throws(SystemCallError) -> Int32 {
        let file = "\(path)/\(name)"
        return try SystemCallError.check("opening \(name)") { Glibc.open(file, flags | O_CLOEXEC) }
    }
}
