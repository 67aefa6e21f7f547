internal import Concurrency
internal import Linux
internal import Logging
internal import QuickConnect
internal import Synchronization

// These functions run on the thread of the watch.
extension GPSDLocationProvider {
    /// How long gpsd may take to report a receiver.
    private static let receiverGrace = Duration.seconds(1)

    var isWanted: Bool {
        shared.withLock { state in
            state.waiters.removeAll { $0.promise.isSettled }
            return state.isWanted
        }
    }

    private static let firstPause = Backoff(first: .milliseconds(200), max: .seconds(1))

    /// Watches as long as anybody waits or subscribes: connects, and retries if that fails.
    func watch(_ waker: Waker) {
        var pause = Self.firstPause
        while isWanted {
            switch connect(waker) {
            case nil: return
            case .stream(let stream)?:
                do throws(PlainError) { try listen(to: stream, waker, &pause) } catch {
                    lost(error, hasConnected: true, isFirst: !pause.hasFailed)
                    pause.wait(waker) { isWanted }
                }
            case .unreachable(let failure)?:
                lost(failure, hasConnected: false, isFirst: !pause.hasFailed)
                pause.wait(waker) { isWanted }
            case .givenUp(let error)?:
                if !pause.hasFailed { logger.warning("\(error.message)") }
                fail(error)
                pause.wait(waker) { isWanted }
            }
        }
    }

    /// Has the connector connect, and waits for it as long as anybody waits or subscribes.
    private func connect(_ waker: Waker) -> Connecting.Outcome? {
        let connecting = Connecting(waker)
        let source = source
        let job = WatchedThread.Job(
            step: "connecting to \(source.description)",
            work: {
                do throws(PlainError) { connecting.settle(.stream(try source.open())) } catch {
                    connecting.settle(.unreachable(error))
                }
            },
            giveUp: { connecting.settle(.givenUp($0)) }
        )
        do throws(CommandError) { try connector.run(job) } catch { return .givenUp(error) }
        while isWanted {
            if let outcome = connecting.outcome { return outcome }
            _ = waker.sleep(until: nil)
        }
        return nil
    }

    private func listen(to stream: any ReportStream, _ waker: Waker, _ pause: inout Backoff) throws(PlainError) {
        shared.withLock { state in
            state.progress.connected()
            state.receivers = ReceiverChoice()
        }
        let receiverTime = ContinuousClock.now + Self.receiverGrace
        var isTold = pause.hasFailed
        while isWanted {
            let end = shared.withLock { $0.nextDeadline(receiverTime) }
            if let report = try stream.next(waker, until: end) {
                take(report)
                if case .unreadable(let line) = report {
                    if !isTold { logger.warning("\(FixProgress.unreadable(source.description, line))") }
                    isTold = true
                } else {
                    // Only after gpsd has said something: a service that merely accepts connections, or says
                    // something else, would cause a reconnect loop.
                    if pause.hasFailed { logger.notice("\(source.description) is back") }
                    pause = Self.firstPause
                }
            }
            settle(receiverIsDue: receiverTime <= .now)
        }
    }

    private func take(_ report: Report) {
        let now = WallClock.now
        let position = shared.withLock { state -> Position? in
            guard state.receivers.admits(report, at: .now, now: now) else { return nil }
            state.progress.note(report, at: now)
            guard case .fix(let fix) = report, var position = fix.position(source: source.name) else { return nil }
            position.satellites = state.receivers.satellites(of: fix.receiver)
            state.latest = position
            for waiter in state.waiters { waiter.take(position, at: now) }
            return position
        }
        if let position { event.publish(position, at: now) }
    }

    /// Answers callers that have what they want, or cannot get it.
    private func settle(receiverIsDue: Bool) {
        let (ready, hopeless, progress) = shared.withLock { state -> ([(Waiter, Position)], [Waiter], FixProgress) in
            let ready = state.waiters.compactMap { waiter in waiter.answer.map { (waiter, $0) } }
            return (ready, receiverIsDue ? state.hopeless : [], state.progress)
        }
        for (waiter, position) in ready { waiter.promise.fulfil(position) }
        for waiter in hopeless { waiter.promise.fail(progress.error(.unavailable, source.description)) }
    }

    /// Callers that were connected when gpsd went away wait for it to return; the others are told that it is not there.
    private func lost(_ failure: PlainError, hasConnected: Bool, isFirst: Bool) {
        let (hopeless, progress) = shared.withLock { state in
            state.progress.lost(failure)
            if hasConnected { for waiter in state.waiters { waiter.hasLost = true } }
            return (state.waiters.filter { !$0.hasLost }, state.progress)
        }
        if isFirst { logger.warning("\(source.description): \(failure)") }
        for waiter in hopeless { waiter.promise.fail(progress.error(.unavailable, source.description)) }
    }
}

extension GPSDLocationProvider.State {
    fileprivate var isWanted: Bool { isSubscribed || !waiters.isEmpty }

    /// Callers that fail because there is no receiver. Those that saw gpsd go away wait: it may find its receiver
    /// again.
    fileprivate var hopeless: [Waiter] { progress.stage == .noReceiver ? waiters.filter { !$0.hasLost } : [] }

    /// The next time at which somebody can be answered without a report.
    /// - Parameter receiverTime: the deadline for gpsd to report a receiver.
    fileprivate func nextDeadline(_ receiverTime: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let answers = waiters.compactMap(\.answerTime)
        return (hopeless.isEmpty ? answers : answers + [receiverTime]).min()
    }
}

/// A connection that another thread makes while this one sleeps on a waker.
final class Connecting: Sendable {
    enum Outcome: Sendable {
        case stream(any ReportStream)
        case unreachable(PlainError)
        /// It takes too long, or an earlier attempt still does.
        case givenUp(CommandError)
    }

    private let waker: Waker
    private let settled = Mutex<Outcome?>(nil)

    init(_ waker: Waker) { self.waker = waker }

    /// The first outcome counts. A stream that comes later is released.
    func settle(_ outcome: Outcome) {
        settled.withLock { if $0 == nil { $0 = outcome } }
        waker.wake()
    }

    var outcome: Outcome? { settled.withLock { $0 } }
}

extension Backoff {
    /// Waits, longer each time, until that is no longer wanted.
    mutating func wait(_ waker: Waker, while isWanted: () -> Bool) {
        let end = ContinuousClock.now + failed()
        while ContinuousClock.now < end, isWanted() { _ = waker.sleep(until: end) }
    }
}

/// A caller that waits for a position.
final class Waiter: @unchecked Sendable {
    // Sendable because everything mutable is only accessed while the provider's state is locked.
    let caller: Caller
    let promise = Promise<Position>()
    private let wish: PositionWish
    /// The best position so far.
    private var candidate: (position: Position, since: ContinuousClock.Instant)?
    /// Whether a connection was lost while it waited.
    var hasLost = false

    /// How long a position without altitude is held back: at first a receiver's fix comes in parts, the altitude last.
    private static let grace = Duration.milliseconds(500)

    init(_ wish: PositionWish, _ caller: Caller) {
        self.wish = wish
        self.caller = caller
    }

    /// - Parameter now: the time in seconds since 1970.
    func take(_ position: Position, at now: Double) {
        let age = position.age(at: now)
        let isFresh = abs(age) <= PositionWish.freshness
        let isYoung = wish.maximumAge == .infinity || (age >= 0 && age <= wish.maximumAge)
        guard isFresh || isYoung, !wish.needsAltitude || position.altitude != nil else { return }
        candidate = (position, position.altitude == nil ? candidate?.since ?? .now : .now - Self.grace)
    }

    /// The position to return now.
    var answer: Position? {
        candidate.flatMap { $0.since + Self.grace <= .now ? $0.position : nil }
    }

    /// When the best position so far can be returned, if there is one.
    var answerTime: ContinuousClock.Instant? { candidate.map { $0.since + Self.grace } }
}
