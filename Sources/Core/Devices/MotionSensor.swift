public import JSON

/// An acceleration in g (9.80665 m/s²), including gravity: at rest its length is 1. The axes are those of Linux and the
/// W3C: x points to the right of the screen, y to its top, z out of it towards the viewer. A device lying with its
/// screen up reads z = 1.
public struct Acceleration: Sendable, Hashable {
    /// To the right, in g.
    public var x: Double
    /// Upwards, in g.
    public var y: Double
    /// Out of the screen, in g.
    public var z: Double
    /// When it was measured; nil if the sensor does not report it.
    public var time: SensorTime?

    /// Metres per second squared.
    public static let standardGravity = 9.80665

    /// An acceleration in g along the device's axes.
    public init(x: Double, y: Double, z: Double, time: SensorTime? = nil) {
        self.x = x
        self.y = y
        self.z = z
        self.time = time
    }

    /// `{"x", "y", "z"}`, and, if the sensor reports the time, `"timestamp"` in milliseconds and `"clock"`.
    public var json: JSONObject {
        var object: JSONObject = ["x": Self.rounded(x), "y": Self.rounded(y), "z": Self.rounded(z)]
        if let time {
            object["timestamp"] = .number(time.milliseconds)
            object["clock"] = .string(time.clock)
        }
        return object
    }

    /// Rounded to a millionth: no sensor is more precise.
    private static func rounded(_ value: Double) -> JSONValue { .number((value * 1e6).rounded() / 1e6) }
}

/// A time reported by a sensor's driver.
public struct SensorTime: Sendable, Hashable {
    /// Milliseconds on that clock.
    public var milliseconds: Double
    /// The kernel's name of the clock: `realtime` counts from 1970, `monotonic` and `boottime` from the start of the
    /// system.
    public var clock: String

    /// A moment on a named clock.
    public init(milliseconds: Double, clock: String) {
        self.milliseconds = milliseconds
        self.clock = clock
    }
}

/// A device that measures its motion.
public protocol MotionSensor: Device {
    /// Waits for the next value. The sensor runs only while somebody waits or subscribes.
    ///
    /// Fails with `unsupported` (this device has no accelerometer), `unavailable` (it went away or does not answer),
    /// `busy` (another program has it), `timeout` or `cancelled` if the waiting task is cancelled.
    func acceleration(for caller: Caller) async throws(CommandError) -> Acceleration
}
