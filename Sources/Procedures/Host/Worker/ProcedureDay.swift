internal import Calendar
internal import Glibc
internal import JSON
internal import QuickConnect

/// The local days that `Context.day` tells, as moments in the form of the data.
enum ProcedureDay {
    /// `{"begin", "end"}` of a day; the end is the first moment of the next one.
    /// - Parameters:
    ///   - text: a date such as `2026-11-23`; nil: that of `now`, in milliseconds since 1970.
    ///   - zone: the name of a time zone; nil: the device's.
    /// - Throws: `invalid` where there is no such date or zone.
    static func bounds(of text: String?, zone: String?, now: Double) throws(ProcedureError) -> JSONValue {
        let date = text.flatMap { CivilDate($0) }
        if let text, date == nil {
            throw ProcedureError(.invalid, "'\(text.shortened)' is not a day: give one such as 2026-11-23")
        }
        if let zone, !isZone(zone) {
            let sentence = "this device knows no time zone '\(zone.shortened)': give its name, such as Europe/Dublin"
            throw ProcedureError(.invalid, sentence)
        }
        let seconds = Int64(min(max((now / 1000).rounded(.down), -1e14), 1e14))
        let bounds = within(zone) { local in local.dayBounds(of: date ?? local.moment(at: seconds).date) }
        return ["begin": moment(bounds.lowerBound), "end": moment(bounds.upperBound)]
    }

    private static func moment(_ seconds: Int64) -> JSONValue {
        EntryDate(milliseconds: seconds * 1000).map { .string($0.description) } ?? .null
    }

    private static let zones = "/usr/share/zoneinfo/"

    /// An unknown name would be taken for UTC.
    private static func isZone(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "-"),
                UInt8(ascii: "/"):
                true
            default: false
            }
        }
        var status = stat()
        // libc reads a name that begins with a slash as a path.
        return isPlain && !name.hasPrefix("/") && stat(zones + name, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// libc has one zone at a time: a process of procedures does one thing at a time, and has its own again afterwards.
    private static func within<Value>(_ zone: String?, _ body: (LocalZone) -> Value) -> Value {
        guard let zone else { return body(LocalZone()) }
        let before = getenv("TZ").map { String(cString: $0) }
        setenv("TZ", zone, 1)
        defer {
            if let before { setenv("TZ", before, 1) } else { unsetenv("TZ") }
            tzset()
        }
        return body(LocalZone())
    }
}
