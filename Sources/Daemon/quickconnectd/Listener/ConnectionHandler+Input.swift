import Concurrency
import QuickConnect
import Runtime

/// Bytes become lines, and lines work, in turns.
extension ConnectionHandler {
    /// Whether there is more input to process.
    var isBusy: Bool { isReadingLine || isScheduled || batch != nil }

    /// Whether there is something to read, and it may be read.
    private var canRead: Bool {
        guard let channel, channel.isReadable, !isPaused, !isBusy, !isClosing, !closesWhenSent, !inputHasEnded,
            !waitsToRead
        else { return false }
        // Who has nothing here may begin, whatever the others of its peer have.
        guard charge.counted > 0, let caller = connection?.caller else { return true }
        waitsToRead = !resources.unread.mayRead(self, for: caller)
        return !waitsToRead
    }

    /// It may read what it waited for.
    func readAgain() {
        waitsToRead = false
        processInput()
    }

    /// Its turn to read on has come.
    func readOn() {
        isUnread = false
        processInput()
    }

    /// Processes what has come, now or when others have had their turn.
    func processInput() {
        guard !isProcessing, !isScheduled, !isReadingLine, connection != nil else { return }
        let begin = LoopTime.now()
        let isBusy = begin < usedTurn + Self.busyTime
        guard let time = resources.busy.time(isBusy: isBusy) else { return waitForTurn(isBusy: isBusy) }
        let end = work(until: begin + time)
        resources.busy.count(end - begin)
    }

    func waitForTurn(isBusy: Bool) {
        guard !isScheduled, let connection else { return }
        isScheduled = true
        resources.busy.append(self, of: connection.owner, isBusy: isBusy)
    }

    /// Its turn has come.
    func takeTurn(_ time: LoopSpan) {
        guard isScheduled else { return }
        isScheduled = false
        workOnEnding(until: .now() + time)
        guard !isProcessing, !isReadingLine, connection != nil else { return }
        _ = work(until: .now() + time)
    }

    /// Passes messages to the connection, until the time is up or the backlog is too large.
    /// - Returns: when it ended.
    func work(until end: LoopTime) -> LoopTime {
        guard let connection else { return end }
        isProcessing = true
        var isDone = input.isEmpty && batch == nil || process(connection, until: end)
        if isDone, canRead { isDone = read(connection, until: end) }
        // Who has gone sends no more.
        while isGone, isDone, canRead, .now() < end { isDone = read(connection, until: end) }
        isProcessing = false
        flush()
        let now = LoopTime.now()
        guard !isClosing else {
            shut()
            return now
        }
        recount()
        if !isDone {
            usedTurn = now
            waitForTurn(isBusy: true)
            return now
        }
        if inputHasEnded, !isPaused, !isBusy { finish(connection.endInputInSteps(), of: connection.owner) }
        if !isUnread, canRead {
            isUnread = true
            resources.busy.readLater(self, of: connection.owner)
        }
        endIfGone()
        return now
    }

    /// Processes what waits.
    /// - Returns: false if the time is up and there is more.
    private func process(_ connection: Connection, until end: LoopTime) -> Bool {
        var done = 0
        // Nothing changes the input during its own turn: what ends the connection then waits until the turn is over.
        let isDone = run(connection, input.bytes, &done, &resources.input, until: end)
        if done > 0 {
            lineCount &+= 1
            input.drop(done)
        }
        return isDone
    }

    /// Reads once, and processes it without keeping it, if it is not the rest of what is kept.
    private func read(_ connection: Connection, until end: LoopTime) -> Bool {
        switch channel?.read(into: room(for: connection.caller)) ?? .end {
        case .bytes(let count):
            hasReceived = true
            lastReceived = loop.polled
            let bytes = UnsafeBufferPointer(rebasing: resources.received.assumingMemoryBound(to: UInt8.self)[..<count])
            guard input.isEmpty else {
                input.append(bytes)
                return process(connection, until: end)
            }
            var done = 0
            let isDone = run(connection, bytes, &done, &resources.input, until: end)
            if done > 0 { lineCount &+= 1 }
            if done < count, !isClosing { input.append(UnsafeBufferPointer(rebasing: bytes[done...])) }
            return isDone
        case .nothing: return true
        case .end:
            inputHasEnded = true
            return true
        }
    }

    /// What the next read may bring: where much is kept already, each of hundreds of connections begins with little.
    private func room(for caller: Caller) -> UnsafeMutableRawBufferPointer {
        guard resources.memory.isUsedUp(by: caller), !resources.unread.isExempt(self) else { return resources.received }
        return UnsafeMutableRawBufferPointer(rebasing: resources.received[..<Self.smallRead])
    }

    private func run(
        _ connection: Connection,
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ done: inout Int,
        _ state: inout LoopResources.Input,
        until end: LoopTime
    ) -> Bool {
        // A local variable is not checked for exclusive access with every line.
        var framer = framer
        defer { self.framer = framer }
        var clock = TurnClock(end)
        let deliveries = resources.deliveries
        while !isPaused, !isClosing, !closesWhenSent, !isReadingLine {
            // After each call: one of them may take much of the time.
            if clock.isOver || resources.deliveries &- deliveries > Self.maxDeliveries {
                return batch == nil && done == bytes.count
            }
            if batch != nil {
                receiveNextOfBatch(connection, &state)
                continue
            }
            let rest = UnsafeBufferPointer(rebasing: bytes[done...])
            let (step, consumed) = framer.next(rest)
            done += consumed
            switch step {
            case .line(let range):
                receive(UnsafeBufferPointer(rebasing: rest[range]), connection, &state)
            case .overlong: if let line = framer.takeOverlong() { connection.receive(line) }
            case .needsMore: return true
            }
        }
        return true
    }

    /// Handles one line. An empty one is ignored.
    private func receive(
        _ line: UnsafeBufferPointer<UInt8>,
        _ connection: Connection,
        _ state: inout LoopResources.Input
    ) {
        guard let first = line.first else { return }
        if line.count > LoopResources.longLine {
            isReadingLine = true
            longLineBytes = line.count
            let handler = LoopBound(self, on: loop)
            resources.read(line, of: connection.owner) {
                handler.value.received($0, WireForm(firstByte: first))
            }
        } else {
            receive(state.reader.read(line), WireForm(firstByte: first), connection, &state)
        }
    }

    private func receive(
        _ line: consuming IncomingLine,
        _ form: WireForm,
        _ connection: Connection,
        _ state: inout LoopResources.Input
    ) {
        switch consume line {
        case .message(let message): receive(message, form, connection, &state)
        case .batch(let batch): self.batch = batch
        }
    }

    private func receive(
        _ message: consuming IncomingMessage,
        _ form: WireForm,
        _ connection: Connection,
        _ state: inout LoopResources.Input
    ) {
        connection.receive(message, &state.table, form: form)
        state.reader.giveBack(message)
    }

    /// Has another thread read a long member of a batch, like a long line.
    private func readBeside(_ member: Batch.Member, _ connection: Connection) {
        isReadingLine = true
        let handler = LoopBound(self, on: loop)
        resources.read(member, of: connection.owner) { handler.value.received($0, .bridge) }
    }

    /// A long line has been read.
    private func received(_ line: IncomingLine, _ form: WireForm) {
        isReadingLine = false
        longLineBytes = 0
        guard let connection, !isClosing else { return }
        isProcessing = true
        receive(line, form, connection, &resources.input)
        isProcessing = false
        flush()
        guard !isClosing else { return shut() }
        resources.trimLater()
        processInput()
    }

    private func receiveNextOfBatch(_ connection: Connection, _ state: inout LoopResources.Input) {
        guard var batch else { return }
        self.batch = nil
        guard let member = batch.next() else { return }
        self.batch = batch
        if member.count > LoopResources.longLine {
            readBeside(member, connection)
        } else {
            receive(state.reader.read(member), .bridge, connection, &state)
        }
    }
}
