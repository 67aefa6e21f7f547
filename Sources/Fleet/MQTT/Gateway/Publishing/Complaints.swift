/// Limits warnings that others can cause: after a few within a time, only their number is logged.
struct Complaints {
    private var count = 0
    private var since = ContinuousClock.now
    private let write: (String) -> Void

    private static let most = 20
    private static let period = Duration.seconds(60)

    init(_ write: @escaping (String) -> Void) { self.write = write }

    mutating func log(_ text: @autoclosure () -> String) {
        let now = ContinuousClock.now
        if since + Self.period <= now {
            if count > Self.most { write("\(count - Self.most) more such lines in the last minute") }
            (since, count) = (now, 0)
        }
        count += 1
        if count <= Self.most { write(text()) }
    }
}
