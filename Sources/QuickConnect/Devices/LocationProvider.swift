public import JSON

/// Where the device is, or was.
public struct Position: Sendable, Hashable {
    /// Degrees, north positive.
    public var latitude: Double
    /// Degrees, east positive.
    public var longitude: Double
    /// Metres above mean sea level; nil where unknown, as in a 2D fix.
    public var altitude: Double?
    /// Metres, horizontally.
    public var accuracy: Double?
    /// Metres, vertically.
    public var altitudeAccuracy: Double?
    /// Degrees from true north, clockwise.
    public var heading: Double?
    /// Metres a second.
    public var speed: Double?
    /// When it was there, in seconds since 1970; nil where the receiver does not know.
    public var time: Double?
    /// 2: without altitude, 3: with.
    public var mode: Int
    /// How many satellites it was worked out from; nil where unknown.
    public var satellites: Int?
    /// What told it, such as `gpsd`.
    public var source: String

    /// A position in degrees, with gpsd's mode (2 or 3 dimensions) and the device that measured it.
    public init(latitude: Double, longitude: Double, mode: Int, source: String) {
        self.latitude = latitude
        self.longitude = longitude
        self.mode = mode
        self.source = source
    }

    /// Whether both are the same place.
    public func isSamePlace(as other: Position) -> Bool {
        latitude == other.latitude && longitude == other.longitude && altitude == other.altitude
    }

    /// Its age in seconds; infinite where its time is not known. A negative one is in the future.
    /// - Parameter now: seconds since 1970.
    public func age(at now: Double) -> Double { time.map { now - $0 } ?? .infinity }

    /// The names of the W3C's Geolocation API: `{"latitude", "longitude", "altitude", "accuracy", "altitudeAccuracy",
    /// "heading", "speed", "timestamp"}`, the timestamp in milliseconds since 1970, and `"age"` in seconds, `"mode"`,
    /// `"satellites"`, `"source"`; null where unknown.
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

/// What a caller wants to know of the position.
public struct PositionWish: Sendable, Hashable {
    /// How old the position may be, in seconds: up to this an earlier one will do. Whatever it is, a fix of the last
    /// ``freshness`` seconds counts as of now.
    public var maximumAge: Double
    /// How long to wait for it, in seconds.
    public var timeout: Double
    /// Whether it must be a 3D fix.
    public var needsAltitude: Bool

    /// The book's rule: a fix that is older than 5 seconds is skipped.
    public static let freshness = 5.0
    /// A little less than the commands' own timeout, whose error could not say why.
    public static let defaultTimeout = 29.0

    /// What a caller asks for: the oldest position that will do and the longest wait, both in seconds.
    public init(maximumAge: Double = 0, timeout: Double = Self.defaultTimeout, needsAltitude: Bool = false) {
        self.maximumAge = maximumAge
        self.timeout = timeout
        self.needsAltitude = needsAltitude
    }
}

/// A device that knows where it is.
public protocol LocationProvider: Device {
    /// Waits for a position. The receiver is used only while somebody waits or subscribes; callers share it.
    ///
    /// Fails with `unavailable` (the service cannot be reached, or has no receiver), `timeout` (the detail `reason` and
    /// the message say what was missing), or `cancelled`, as the waiting task is.
    func position(_ wish: PositionWish, for caller: Caller) async throws(CommandError) -> Position
}
