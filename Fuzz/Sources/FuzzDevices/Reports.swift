import Fuzzer
import JSON
import QuickConnect

@testable import GPSDLocation

/// Reads lines of gpsd, one a second, as a watch does.
func readReports(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let unpacker = try? LineUnpacker() else { return }
    var progress = FixProgress()
    var choice = ReceiverChoice()
    progress.connected()
    let start = ContinuousClock.now
    var now = 1_700_000_000.0
    for line in bytes.split(separator: UInt8(ascii: "\n")).prefix(20) where line.first == UInt8(ascii: "{") {
        // A line of libgps is at most so long.
        let line = String(decoding: line.prefix(10_000), as: UTF8.self)
        now += 1
        for report in [unpacker.report(line, receiver: nil, at: nil), unpacker.report(line, receiver: "a", at: now)] {
            if choice.admits(report, at: start + .seconds(now - 1_700_000_000), now: now) {
                progress.note(report, at: now)
            }
            if case .fix(let fix) = report { look(at: fix, now) }
        }
        let error = progress.error(.timeout, "gpsd", after: 3)
        check(!error.message.isEmpty, "why there is no position can be told")
        check((try? JSONParser.parse(JSONValue.object(error.details).text)) != nil, "and read")
    }
}

/// What a receiver lies about does not come further than this.
private func look(at fix: RawFix, _ now: Double) {
    guard let position = fix.position(source: "gpsd") else { return }
    check((-90...90).contains(position.latitude) && (-180...180).contains(position.longitude), "it is on the Earth")
    check([2, 3].contains(position.mode), "a position has a mode")
    check(position.altitude == nil || position.mode == 3, "only a whole fix has a height")
    for value in [position.altitude, position.accuracy, position.altitudeAccuracy, position.speed, position.heading] {
        check(value?.isFinite ?? true, "what is told is a number")
    }
    let json = JSONValue.object(position.json(at: now))
    check((try? JSONParser.parse(json.text)) != nil, "a position can be written")
    let age = position.json(at: now)["age"]?.numberValue
    check(age.map { $0 >= 0 } ?? true, "an age is not negative")
}
