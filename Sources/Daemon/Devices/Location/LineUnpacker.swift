internal import CGPS

/// Reads lines of gpsd, one after another, by libgps and without a connection. The owner of a `gps_data_t`.
final class LineUnpacker {
    let data: UnsafeMutablePointer<gps_data_t>

    init() throws(Unreachable) {
        guard let data = qc_gps_new() else { throw Unreachable(reason: "no memory") }
        self.data = data
    }

    deinit { qc_gps_delete(data) }

    /// What a line says; nil where libgps cannot read it.
    /// - Parameters:
    ///   - receiver: whom it comes from; nil: whom the line names.
    ///   - time: when it says it, in seconds since 1970; nil: as the line has it.
    func report(_ line: String, receiver: String?, at time: Double?) -> Report? {
        guard qc_gps_unpack(line, data) == 0 else { return nil }
        var report = qc_gps_report(data)
        if let time { report.time = time }
        return Report(report, receiver: receiver ?? String(cString: qc_gps_device(data)))
    }
}
