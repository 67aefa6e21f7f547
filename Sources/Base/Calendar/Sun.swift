internal import Glibc

/// Sunrise and sunset at a place, by the equations of NOAA's solar calculator: the upper limb of the sun on a flat
/// horizon, with the usual refraction. Within 2 minutes of almanacs up to a latitude of 65°; nearer to the poles, where
/// the sun rises and sets at a flat angle, less exact.
struct Sun {
    private let longitude: Double
    private let sine: Double
    private let cosine: Double

    /// - Parameters:
    ///   - latitude: degrees, -90…90, north positive.
    ///   - longitude: degrees, -180…180, east positive.
    /// - Returns: nil if one of them is outside of its bounds.
    init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        self.longitude = longitude
        (sine, cosine) = (sin(Self.radians(latitude)), cos(Self.radians(latitude)))
    }

    /// The sunrise before, or the sunset after, the noon of a solar day, in seconds since 1970 in UTC; nil if the sun
    /// stays above or below the horizon. Those of successive days come one after the other, whatever the clocks show.
    /// - Parameter day: the solar day whose noon lies within 12 hours of the noon, UTC, of this day after 1970-01-01.
    func time(of event: ScheduleRule.SunEvent, day: Int) -> Int64? {
        let meanNoon = Double(day) * 86_400 + 43_200 - longitude * 240
        var time = meanNoon
        // From noon's declination to that at the event, and once more. Only the last says whether there is one.
        for pass in 0..<3 {
            let (declination, equationOfTime) = Self.position(at: time)
            let cosineOfAngle =
                (Self.cosineOfZenith - sine * sin(declination)) / (cosine * cos(declination))
            if pass == 2, !(abs(cosineOfAngle) <= 1) { return nil }
            let angle = Self.degrees(acos(min(max(cosineOfAngle, -1), 1)))
            time = meanNoon - equationOfTime * 60 + (event == .sunrise ? -angle : angle) * 240
        }
        return Int64(time.rounded())
    }

    private static let cosineOfZenith = cos(radians(90.833))

    /// The sun's declination in radians, and the equation of time in minutes.
    private static func position(at seconds: Double) -> (declination: Double, equationOfTime: Double) {
        // Julian centuries since 2000-01-01 12:00.
        let century = (seconds / 86_400 - 10_957.5) / 36_525
        let meanLongitude = 280.46646 + century * (36_000.76983 + century * 0.0003032)
        let anomaly = radians(357.52911 + century * (35_999.05029 - century * 0.0001537))
        let eccentricity = 0.016708634 - century * (0.000042037 + century * 0.0000001267)
        let center =
            sin(anomaly) * (1.914602 - century * (0.004817 + century * 0.000014))
            + sin(2 * anomaly) * (0.019993 - century * 0.000101) + sin(3 * anomaly) * 0.000289
        let node = radians(125.04 - 1934.136 * century)
        let longitude = radians(meanLongitude + center - 0.00569 - 0.00478 * sin(node))
        let meanObliquity =
            23 + (26 + (21.448 - century * (46.815 + century * (0.00059 - century * 0.001813))) / 60) / 60
        let obliquity = radians(meanObliquity + 0.00256 * cos(node))
        let declination = asin(sin(obliquity) * sin(longitude))

        let square = tan(obliquity / 2) * tan(obliquity / 2)
        let mean = radians(meanLongitude)
        let equation =
            square * sin(2 * mean) - 2 * eccentricity * sin(anomaly)
            + 4 * eccentricity * square * sin(anomaly) * cos(2 * mean)
            - 0.5 * square * square * sin(4 * mean) - 1.25 * eccentricity * eccentricity * sin(2 * anomaly)
        return (declination, degrees(equation) * 4)
    }

    private static func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
    private static func degrees(_ radians: Double) -> Double { radians * 180 / .pi }
}
