import Concurrency
internal import Glibc
internal import JSON
import Linux
internal import QuickConnect

/// A simulated position instead of a receiver: one at which a person holds the device, or a recorded track: gpsd's own
/// lines, one per second, replayed as if they were current.
struct SimulatedReports: ReportSource {
    let input: SimulatedInput
    let name = "simulated"

    var description: String {
        switch input.current.source {
        case .track(let path, _): "the simulated track \(path)"
        case .held: "the simulated position"
        }
    }

    func open() throws(PlainError) -> any ReportStream { try SimulatedStream(input) }

    fileprivate static let maxBytes = 64 << 20

    /// Why the file at a path is no track, with the line; nil if it is one. Blocks.
    static func mistake(_ path: String) -> String? {
        switch FileText.read(path, maximumBytes: maxBytes) {
        case .success(let text): problem(text)
        case .failure(let problem): problem.message
        }
    }

    /// The same of a track's text: gpsd's lines, of which at least one has a position.
    private static func problem(_ text: String) -> String? {
        let form = #"{"class":"TPV","mode":3,"lat":51.5,"lon":-0.12}"#
        var hasPosition = false
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in zip(1..., lines) where line.hasPrefix("{") {
            guard let members = (try? JSONParser.parse(String(line)))?.objectValue,
                let kind = members["class"]?.stringValue
            else { return "has no line of gpsd in line \(number): it needs lines such as \(form)" }
            guard kind == "TPV", members["mode"]?.integerValue ?? 0 > 1 else { continue }
            guard let latitude = members["lat"]?.numberValue, let longitude = members["lon"]?.numberValue,
                (-90...90).contains(latitude), (-180...180).contains(longitude)
            else { return "has no position in line \(number): it needs lines such as \(form), in degrees" }
            hasPosition = true
        }
        return hasPosition ? nil : "has no position in it: it needs lines such as \(form)"
    }
}

private final class SimulatedStream: ReportStream, @unchecked Sendable {
    // Sendable because one thread at a time uses it.
    private let unpacker: LineUnpacker
    private let input: SimulatedInput
    private var changes: Int
    /// One for each second.
    private var lines: [String]
    private var greetings: [Report] = [.devices(1), .service]
    private var latest = Int.min

    init(_ input: SimulatedInput) throws(PlainError) {
        let (source, changes) = input.current
        lines = try Self.lines(of: source)
        unpacker = try LineUnpacker()
        (self.input, self.changes) = (input, changes)
    }

    func next(_ waker: Waker, until end: ContinuousClock.Instant?) throws(PlainError) -> Report? {
        if let greeting = greetings.popLast() { return greeting }
        try noticeChange()
        var now = WallClock.now
        if Int(now) == latest {
            let nextSecond = ContinuousClock.now + .seconds(Double(latest) + 1 - now)
            _ = waker.sleep(until: end.map { min($0, nextSecond) } ?? nextSecond)
            try noticeChange()
            now = WallClock.now
        }
        guard Int(now) != latest else { return nil }
        latest = Int(now)
        return report(at: now)
    }

    /// What a person moves is told at once.
    private func noticeChange() throws(PlainError) {
        let (source, count) = input.current
        guard count != changes else { return }
        (changes, latest) = (count, Int.min)
        lines = try Self.lines(of: source)
    }

    /// The line for this second; the track is played forward and backward forever.
    private func report(at now: Double) -> Report {
        let step = Int(now) % max(1, 2 * lines.count - 2)
        let line = lines[step < lines.count ? step : 2 * lines.count - 2 - step]
        return unpacker.report(line, receiver: "simulated", at: now)
    }

    private static func lines(of source: SimulatedInput.Source) throws(PlainError) -> [String] {
        switch source {
        case .held(let numbers): return [line(numbers)]
        case .track(let path, _):
            let read = FileText.read(path, maximumBytes: SimulatedReports.maxBytes)
            let text = try read.mapError { PlainError("\(path) \($0.message)") }.get()
            let lines = text.split(separator: "\n").filter { $0.hasPrefix("{") }.map(String.init)
            guard !lines.isEmpty else { throw PlainError("there is no track in it") }
            return lines
        }
    }

    /// As gpsd tells a fix, with the accuracy of a good receiver.
    private static func line(_ numbers: [String: Double]) -> String {
        let (latitude, longitude) = (numbers["latitude"] ?? 0, numbers["longitude"] ?? 0)
        let altitude = numbers["altitude"].map { ",\"altMSL\":\($0),\"epv\":6" } ?? ""
        let mode = altitude.isEmpty ? 2 : 3
        return #"{"class":"TPV","mode":\#(mode),"lat":\#(latitude),"lon":\#(longitude),"eph":4\#(altitude),"speed":0}"#
    }
}
