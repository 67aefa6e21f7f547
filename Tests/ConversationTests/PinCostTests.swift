import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// How soon a page hears of a press, and what declared lines cost while nobody touches them. A machine that is busy with other
/// things may disturb one measurement; the best of three counts.
@Suite("What pins cost", .serialized)
struct PinCostTests {
    // Programs that are tried without being made fast take several times as long.
    private static let limit = Duration.milliseconds(Products.areReleased ? 5 : 20)
    private static let kilobytes = Products.areReleased ? 300 : 450

    @Test(.measured) func `a page hears of 99 presses of a hundred at once`() async throws {
        let web = try await WebProcess(
            WebProcess.Options(
                mappings: "push: {value: {type: boolean, gpio: {line: GPIO17}}, allow: {users: [\"web:ann\"]}}\n",
                commands: ["push", "subscribe"]
            )
        )
        let page = try await web.page(web.cookie(of: "ann"))
        let hand = try web.connect()
        _ = try await page.ask(#"{"handlerName":"subscribe","data":["push"],"callbackId":"1"}"#)
        // The line is watched from a moment after the answer on; a read comes after that.
        _ = try await page.ask(#"{"handlerName":"push","callbackId":"2"}"#)
        var slowest: [Duration] = []
        repeat {
            var times: [Duration] = []
            for number in 0..<300 {
                let begin = ContinuousClock.now
                async let answer = hand.value("simulate", ["push", .bool(number.isMultiple(of: 2))])
                let frame = try #require(try await page.frame())
                times.append(begin.duration(to: .now))
                #expect(String(decoding: frame.payload, as: UTF8.self).contains(#""handlerName":"push""#))
                _ = try await answer
            }
            slowest.append(times.sorted()[times.count * 99 / 100])
        } while slowest.count < 3 && slowest[slowest.count - 1] > Self.limit
        #expect(slowest.contains { $0 <= Self.limit }, "\(slowest)")
    }

    @Test(.measured) func `twenty lines at rest wake nobody, and take little memory`() async throws {
        let lines = (1...10).map { number in
            """
            push\(number): {value: {type: boolean, gpio: {line: GPIO\(number), bias: pull-up, debounce: 20ms}}}
            lamp\(number): {value: {type: boolean, gpio: {line: GPIO\(number + 10), output: true}, default: false}}

            """
        }
        let (none, twenty) = (try TestFolder.mappings(""), try TestFolder.mappings(lines.joined()))
        var (wakes, more) = ([Int](), [Int]())
        repeat {
            let (bare, daemon) = (
                try await DaemonProcess(mappings: none.path),
                try await DaemonProcess(mappings: twenty.path)
            )
            // Sleeps until both have given back what their start took.
            try await Task.sleep(for: .seconds(15))
            let threads = ThreadList(process: daemon.process.pid)
            let before = threads.voluntarySwitches
            // Sleeps while the daemon should.
            try await Task.sleep(for: .seconds(4))
            wakes.append(threads.voluntarySwitches - before)
            more.append(daemon.process.anonymousMemory - bare.process.anonymousMemory)
            #expect(try await daemon.connect().value("push7", []) == false)
            #expect(try await daemon.stop() == .status(0))
            #expect(try await bare.stop() == .status(0))
        } while wakes.count < 3 && !(wakes.contains(0) && more.contains { $0 <= Self.kilobytes })
        #expect(wakes.contains(0), "woken \(wakes) times in 4 s")
        #expect(more.contains { $0 <= Self.kilobytes }, "\(more) KiB more")
    }
}
