import Concurrency

/// Limits warnings that others can cause: after a few within a time, only their number is logged.
struct Complaints {
    private var lines = LineLimit(20, in: .seconds(60))
    private let write: (String) -> Void

    init(_ write: @escaping (String) -> Void) { self.write = write }

    mutating func log(_ text: @autoclosure () -> String) {
        if let count = lines.takeUntold() { write("\(count) more such lines in the last minute") }
        if lines.takes() { write(text()) }
    }
}
