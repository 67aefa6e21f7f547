public import JSON

/// The limits of one script. Each is a setting; see docs/scripts.md.
public struct ScriptLimits: Sendable, Equatable {
    /// CPU time from when the script is entered until it returns, in seconds.
    public var cpuSeconds = 1.0
    /// Time from a handler's call to its answer, in seconds; also the longest that the script may block otherwise.
    public var handlerSeconds = 10.0
    /// Time that `makeCallSync` waits, in seconds.
    public var syncSeconds = 30.0
    /// Resident memory of the script's process.
    public var memoryBytes = 256 << 20
    /// The share of one core that the script's process may use over ``shareSeconds``, in per cent.
    public var sharePercent = 80
    public var shareSeconds = 10.0
    /// The shortest delay of a timer, in seconds.
    public var timerSeconds = 0.001
    /// Running calls; one more gets `overloaded`.
    public var calls = 256
    /// Bytes per second that the console accepts; the rest is dropped and counted.
    public var consoleBytesPerSecond = 64 << 10

    public init() {}

    /// In the form of `quickconnect scripts`.
    public var json: JSONValue {
        [
            "cpuTime": .number(cpuSeconds), "handlerTime": .number(handlerSeconds), "syncTime": .number(syncSeconds),
            "memoryBytes": .integer(Int64(memoryBytes)), "sharePercent": .integer(Int64(sharePercent)),
            "shareTime": .number(shareSeconds), "timer": .number(timerSeconds), "calls": .integer(Int64(calls)),
            "consoleBytes": .integer(Int64(consoleBytesPerSecond)),
        ]
    }
}
