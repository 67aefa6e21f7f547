internal import Glibc
public import Testing

extension Trait where Self == ConditionTrait {
    /// A test that judges time, memory, wake-ups or a processor's share. Its verdict would hang on what else the machine does, so that
    /// `make test` leaves it out, and `make check SUITES=measured` runs it with nothing beside it.
    public static var measured: Self { .enabled(if: isMeasuring, "measured by make check SUITES=measured") }

    /// A test that repeats something very often, or takes much data. It is left out and run like one that is ``measured``.
    public static var slow: Self { .enabled(if: isMeasuring, "slow; run by make check SUITES=measured") }
}

private let isMeasuring = getenv("QUICKCONNECT_MEASURED") != nil
