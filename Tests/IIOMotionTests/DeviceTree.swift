import Foundation
import Logging
import TestRig

@testable import IIOMotion

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// A folder of IIO devices as sysfs shows them. The trees of real drivers that tests build are what Debian's kernel 6.1
/// shows: hid-sensor-accel-3d over uhid, kxcjk1013, lis3dh (st_accel) and mma7660 over i2c-stub.
final class DeviceTree: Sendable {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        for name in ["sys", "dev", "udev"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
    }

    func source(named: String? = nil, matrix: Matrix? = nil) -> IIOSource {
        let (root, nodes, database) = (folder("sys"), folder("dev"), folder("udev"))
        return IIOSource(named: named, matrix: matrix, root: root, nodes: nodes, database: database)
    }

    func add(_ device: String, _ attributes: [String: String]) throws {
        for (name, text) in attributes { try write(text, to: device, name) }
    }

    func write(_ text: String, to device: String, _ name: String) throws {
        let path = "sys/\(device)/\(name)"
        let parent = folder(path).split(separator: "/").dropLast().map { "/\($0)" }.joined()
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        // As sysfs does: a file that is there stays the same one.
        if folder.exists(path), let file = FileHandle(forWritingAtPath: folder(path)) {
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: Data((text + "\n").utf8))
            return
        }
        try folder.write(text + "\n", to: path)
    }

    func text(_ device: String, _ name: String) throws -> String {
        try String(decoding: folder.data("sys/\(device)/\(name)"), as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    func remove(_ device: String) throws { try folder.remove("sys/\(device)") }
}

/// What drivers show.
enum Driver {
    static let mma7660 = [
        "name": "mma7660", "in_accel_x_raw": "5", "in_accel_y_raw": "-1", "in_accel_z_raw": "21",
        "in_accel_scale": "0.467142857",
    ]
    static let kxcjk1013 = [
        "name": "kxcjk1013", "in_accel_x_raw": "1", "in_accel_y_raw": "-1", "in_accel_z_raw": "1024",
        "in_accel_scale": "0.009582", "in_accel_mount_matrix": "0, 1, 0; -1, 0, 0; 0, 0, 1",
        "in_accel_sampling_frequency": "50.000000",
    ]
    static let lis3dh = [
        "name": "lis3dh", "in_accel_x_raw": "16", "in_accel_y_raw": "-16", "in_accel_z_raw": "16384",
        "in_accel_x_scale": "0.000598", "in_accel_y_scale": "0.001196", "in_accel_z_scale": "0.000598",
        "mount_matrix": "1, 0, 0; 0, 1, 0; 0, 0, -1", "sampling_frequency": "1",
        "sampling_frequency_available": "1 10 25 50 100 200 400 1600",
    ]
    /// With the time, and all that its buffer needs.
    static let accel3D = [
        "name": "accel_3d", "in_accel_x_raw": "0", "in_accel_y_raw": "-7", "in_accel_z_raw": "100",
        "in_accel_scale": "0.098066500", "in_accel_offset": "0", "in_accel_sampling_frequency": "20.000000",
        "current_timestamp_clock": "realtime", "trigger/current_trigger": "accel_3d-dev0", "buffer/enable": "0",
        "buffer/length": "2", "buffer/watermark": "1", "scan_elements/in_accel_x_en": "0",
        "scan_elements/in_accel_y_en": "0", "scan_elements/in_accel_z_en": "0", "scan_elements/in_timestamp_en": "0",
        "scan_elements/in_accel_x_index": "0", "scan_elements/in_accel_y_index": "1",
        "scan_elements/in_accel_z_index": "2", "scan_elements/in_timestamp_index": "3",
        "scan_elements/in_accel_x_type": "le:s16/32>>0", "scan_elements/in_accel_y_type": "le:s16/32>>0",
        "scan_elements/in_accel_z_type": "le:s16/32>>0", "scan_elements/in_timestamp_type": "le:s64/64>>0",
    ]
}
