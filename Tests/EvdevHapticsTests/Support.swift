import Foundation
import Linux
import Logging
import QuickConnect
import Synchronization
import TestRig

@testable import EvdevHaptics

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
let alice = Caller(.peer(uid: 1000, pid: 1, groups: []))
let bob = Caller(.peer(uid: 1001, pid: 2, groups: []))

/// A motor that keeps what it was told, and fails or hangs where a test wants that.
final class FakeMotors: MotorSource {
    enum Step: Equatable, Sendable {
        case open, rest, gone
        case vibrate(Int)
    }

    struct State {
        var steps: [(step: Step, at: ContinuousClock.Instant)] = []
        var failure: CommandError?
        var vibrationFailure: CommandError?
        /// A driver hangs until it is opened.
        var hang: Gate?
        /// Ends of socket pairs: whoever closes the second one unplugs the motor.
        var plugs: [Int32] = []
    }

    let description = "the fake motor"
    let state = Mutex(State())

    var steps: [Step] { state.withLock { $0.steps.map(\.step) } }

    fileprivate func report(_ step: Step) { state.withLock { $0.steps.append((step, .now)) } }

    func open() throws(CommandError) -> any Motor {
        let (failure, hang) = state.withLock { ($0.failure, $0.hang) }
        hang?.pass()
        if let failure { throw failure }
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        state.withLock { $0.plugs.append(ends[1]) }
        report(.open)
        return FakeMotor(self, ends[0])
    }

    func examine() -> Finding { Finding("vibration", .ok, "fake") }

    func unplug() { for plug in state.withLock({ $0.plugs }) { close(plug) } }

    private final class FakeMotor: Motor {
        let motors: FakeMotors
        let descriptor: Int32

        init(_ motors: FakeMotors, _ descriptor: Int32) { (self.motors, self.descriptor) = (motors, descriptor) }

        deinit {
            close(descriptor)
            motors.report(.gone)
        }

        func vibrate(milliseconds: Int) throws(CommandError) {
            if let failure = motors.state.withLock({ $0.vibrationFailure }) { throw failure }
            motors.report(.vibrate(milliseconds))
        }

        func rest() throws(CommandError) { motors.report(.rest) }
    }
}
