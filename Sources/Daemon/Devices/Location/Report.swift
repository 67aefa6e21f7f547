internal import CGPS
internal import Glibc
internal import QuickConnect

/// The contents of one message of gpsd, as far as they are used. Nothing in it is checked yet.
enum Report: Sendable, Equatable {
    /// A message of gpsd itself: its version, the watch, an error.
    case service
    /// How many receivers gpsd has.
    case devices(Int)
    /// A TPV report.
    case fix(RawFix)
    /// A SKY report.
    case sky(seen: Int, used: Int, receiver: String = "")
    /// Other data of a receiver, such as AIS.
    case otherData
    /// A line that is no message of gpsd, or a TPV report that libgps cannot read.
    case unreadable(String)

    /// - Parameter receiver: the receiver it comes from.
    init(_ report: qc_gps_report, receiver: String) {
        switch report.set {
        case let set where set & MODE_SET != 0: self = .fix(RawFix(report, receiver))
        case let set where set & SATELLITE_SET != 0:
            self = .sky(
                seen: Int(report.satellites_visible),
                used: Int(report.satellites_used),
                receiver: receiver
            )
        case let set where set & DEVICELIST_SET != 0: self = .devices(Int(report.devices))
        case let set where set & qc_gps_other_data != 0: self = .otherData
        default: self = .service
        }
    }
}

/// A fix as gpsd reports it: NaN for unknown values, and possibly nonsense.
struct RawFix: Sendable, Equatable {
    var mode: Int
    var time: Double
    var latitude: Double
    var longitude: Double
    var altitude = Double.nan
    var horizontalError = Double.nan
    var verticalError = Double.nan
    var speed = Double.nan
    var track = Double.nan
    /// gpsd's receiver; empty if unknown.
    var receiver = ""
}

extension RawFix {
    init(_ report: qc_gps_report, _ receiver: String) {
        self.init(
            mode: Int(report.mode),
            time: report.time,
            latitude: report.latitude,
            longitude: report.longitude,
            altitude: report.altitude,
            horizontalError: report.eph,
            verticalError: report.epv,
            speed: report.speed,
            track: report.track,
            receiver: receiver
        )
    }

    /// The position, if there is one: decided by the mode and by plausible values. gpsd's `status` does not help, since
    /// it is 0 for a plain fix. An implausible value counts as unknown.
    func position(source: String) -> Position? {
        guard mode >= 2, (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        var position = Position(latitude: latitude, longitude: longitude, mode: min(mode, 3), source: source)
        if mode >= 3 { position.altitude = altitude.ifIn(-12_000...1_000_000) }
        position.accuracy = horizontalError.ifIn(0...1_000_000)
        position.altitudeAccuracy = mode >= 3 ? verticalError.ifIn(0...1_000_000) : nil
        position.speed = speed.ifIn(0...100_000)
        // As the W3C has it: none while the device stands, and less than 360.
        position.heading = speed == 0 ? nil : track.ifIn(0...360)?.truncatingRemainder(dividingBy: 360)
        position.time = time.ifIn(1...1e11)
        return position
    }
}

extension Double {
    fileprivate func ifIn(_ range: ClosedRange<Double>) -> Double? { range.contains(self) ? self : nil }
}
