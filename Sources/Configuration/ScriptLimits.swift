package import JSON

/// The limits of one script. Each is a setting; see docs/scripts.md.
package struct ScriptLimits: Sendable, Equatable {
    /// CPU time from when the script is entered until it returns, in seconds.
    package var cpuSeconds = 1.0
    /// Time from a handler's call to its answer, in seconds; also the longest that the script may block otherwise.
    package var handlerSeconds = 10.0
    /// Time that `makeCallSync` waits, in seconds.
    package var syncSeconds = 30.0
    /// Resident memory of the script's process.
    package var memoryBytes = 256 << 20
    /// The share of one core that the script's process may use over ``shareSeconds``, in per cent.
    package var sharePercent = 80
    package var shareSeconds = 10.0
    /// The shortest delay of a timer, in seconds.
    package var timerSeconds = 0.001
    /// Running calls; one more gets `overloaded`.
    package var calls = 256
    /// Bytes per second that the console accepts; the rest is dropped and counted.
    package var consoleBytesPerSecond = 64 << 10

    package init() {}

    /// In the form of `quickconnect scripts`.
    package var json: JSONValue {
        [
            "cpuTime": .number(cpuSeconds), "handlerTime": .number(handlerSeconds), "syncTime": .number(syncSeconds),
            "memoryBytes": .integer(Int64(memoryBytes)), "sharePercent": .integer(Int64(sharePercent)),
            "shareTime": .number(shareSeconds), "timer": .number(timerSeconds), "calls": .integer(Int64(calls)),
            "consoleBytes": .integer(Int64(consoleBytesPerSecond)),
        ]
    }
}
