public import JSON

/// A position of the device, current or past.
public struct Position: Sendable, Hashable {
    /// Degrees, north positive.
    public var latitude: Double
    /// Degrees, east positive.
    public var longitude: Double
    /// Metres above mean sea level; nil if unknown, as in a 2D fix.
    public var altitude: Double?
    /// Horizontal accuracy in metres.
    public var accuracy: Double?
    /// Vertical accuracy in metres.
    public var altitudeAccuracy: Double?
    /// Degrees from true north, clockwise.
    public var heading: Double?
    /// Metres per second.
    public var speed: Double?
    /// When it was measured, in seconds since 1970; nil if the receiver does not know.
    public var time: Double?
    /// 2: without altitude, 3: with altitude.
    public var mode: Int
    /// How many satellites it was computed from; nil if unknown.
    public var satellites: Int?
    /// Where it comes from, such as `gpsd`.
    public var source: String

    /// A position in degrees, with gpsd's mode (2 or 3 dimensions) and the device that measured it.
    public init(latitude: Double, longitude: Double, mode: Int, source: String) {
        self.latitude = latitude
        self.longitude = longitude
        self.mode = mode
        self.source = source
    }

    /// Whether both are the same place, known about as well: not twice as well, or half.
    public func isSamePlace(as other: Position) -> Bool {
        latitude == other.latitude && longitude == other.longitude && altitude == other.altitude
            && isAsAccurate(as: other)
    }

    private func isAsAccurate(as other: Position) -> Bool {
        guard let accuracy, let its = other.accuracy else { return accuracy == other.accuracy }
        return max(accuracy, its) < 2 * min(accuracy, its) || accuracy == its
    }

    /// Its age in seconds; infinite if its time is unknown, negative if its time is in the future.
    /// - Parameter now: seconds since 1970.
    public func age(at now: Double) -> Double { time.map { now - $0 } ?? .infinity }

    /// The position with the names of the W3C's Geolocation API: `{"latitude", "longitude", "altitude", "accuracy",
    /// "altitudeAccuracy", "heading", "speed", "timestamp"}`, the timestamp in milliseconds since 1970, and `"age"` in
    /// seconds, `"mode"`, `"satellites"`, `"source"`; null if unknown.
    public func json(at now: Double) -> JSONObject {
        func number(_ value: Double?) -> JSONValue { value.map { .number($0) } ?? .null }
        return [
            "latitude": .number(latitude), "longitude": .number(longitude), "altitude": number(altitude),
            "accuracy": number(accuracy), "altitudeAccuracy": number(altitudeAccuracy), "heading": number(heading),
            "speed": number(speed), "timestamp": time.map { .integer(Int64(($0 * 1000).rounded())) } ?? .null,
            "age": number(time.map { max(0, ((now - $0) * 1000).rounded() / 1000) }), "mode": .integer(Int64(mode)),
            "satellites": satellites.map { .integer(Int64($0)) } ?? .null, "source": .string(source),
        ]
    }
}

/// What a caller requires of the position.
public struct PositionWish: Sendable, Hashable {
    /// How old the position may be, in seconds: an earlier one of at most this age is accepted. Whatever the value, a
    /// fix from the last ``freshness`` seconds counts as current.
    public var maximumAge: Double
    /// How long to wait for it, in seconds.
    public var timeout: Double
    /// Whether it must be a 3D fix.
    public var needsAltitude: Bool

    /// The book's rule: a fix that is older than 5 seconds is skipped.
    public static let freshness = 5.0
    /// A little less than the commands' own timeout, whose error could not give the reason.
    public static let defaultTimeout = 29.0

    /// What a caller asks for: the greatest acceptable age and the longest wait, both in seconds.
    public init(maximumAge: Double = 0, timeout: Double = Self.defaultTimeout, needsAltitude: Bool = false) {
        self.maximumAge = maximumAge
        self.timeout = timeout
        self.needsAltitude = needsAltitude
    }
}

/// A device that knows its location.
public protocol LocationProvider: Device {
    /// Waits for a position. The receiver is used only while somebody waits or subscribes; callers share it.
    ///
    /// Fails with `unavailable` (the service cannot be reached, or has no receiver), `timeout` (the detail `reason` and
    /// the message say what was missing), or `cancelled` if the waiting task is cancelled.
    func position(_ wish: PositionWish, for caller: Caller) async throws(CommandError) -> Position
}
