import Fairness
import JSON
import Logging
import NIOCore
import QuickConnect

/// Bytes become lines, and lines work, in turns.
extension ConnectionHandler {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasReceived = true
        lastReceived = .now()
        var buffer = unwrapInboundIn(data)
        (receivedBytes, readAhead) = (buffer.readableBytes, 0)
        if input.readableBytes == 0 {
            input = buffer
        } else {
            input.writeBuffer(&buffer)
        }
        processInput()
        // At the end of input all that the kernel has comes, asked for or not.
        if isBusy { recount() }
    }

    /// Whether there is more input to process.
    var isBusy: Bool { isReadingLine || isScheduled || batch != nil }

    func read(context: ChannelHandlerContext) {
        if isPaused || isBusy || !mayRead {
            readIsPending = true
        } else {
            readMore(context)
        }
    }

    /// Counts what may come before it comes: hundreds of connections may read between two looks at the memory.
    func readMore(_ context: ChannelHandlerContext) {
        if charge.counted > 0, input.readableBytes > 0 {
            // Each buffer is at most twice as large as the one before.
            readAhead = min(4 * receivedBytes, Self.maxReadAhead)
            recount()
        }
        context.read()
    }

    /// Whether its peer may send more: who has nothing here may begin, whatever the others of its peer have.
    var mayRead: Bool {
        guard !waitsToRead else { return false }
        guard charge.counted > 0 || sendsMuch, let caller = connection?.caller, let loop else {
            return true
        }
        let mayRead =
            (charge.counted == 0 || resources.unread.mayRead(self, for: caller, on: loop))
            && (!sendsMuch || resources.busy.mayRead(self, of: connection?.owner ?? caller.owner, on: loop))
        waitsToRead = !mayRead
        return mayRead
    }

    func readIfPending() {
        guard readIsPending, !isPaused, !isBusy, mayRead else { return }
        readAgain()
    }

    /// It may read what it waited for.
    func readAgain() {
        waitsToRead = false
        guard readIsPending, !isPaused, !isBusy else { return }
        readIsPending = false
        if let context { readMore(context) }
    }

    /// Processes what has come, now or when others have had their turn.
    func processInput() {
        guard !isProcessing, !isScheduled, !isReadingLine, connection != nil, let loop else { return }
        let begin = NIODeadline.now()
        // When a write fails because a client is gone, NIO reads the rest of its input, possibly during another
        // connection's turn.
        guard !resources.isInUse, let time = resources.busy.time(isBusy: begin < usedTurn + Self.busyTime) else {
            return waitForTurn(isBusy: begin < usedTurn + Self.busyTime)
        }
        let end = work(until: begin + time)
        resources.busy.count(end - begin, on: loop)
        endIfGone()
    }

    func waitForTurn(isBusy: Bool) {
        guard !isScheduled, let connection, let loop else { return }
        isScheduled = true
        resources.busy.append(self, of: connection.owner, isBusy: isBusy, on: loop)
    }

    /// Its turn has come.
    func takeTurn(_ time: TimeAmount) {
        guard isScheduled else { return }
        isScheduled = false
        if ending != nil { workOnEnding(until: .now() + time) }
        guard !isProcessing, !isReadingLine, connection != nil else { return }
        _ = work(until: .now() + time)
        endIfGone()
    }

    /// Passes messages to the connection, until the time is up or the backlog is too large.
    /// - Returns: when it ended.
    func work(until end: NIODeadline) -> NIODeadline {
        guard let connection else { return end }
        isProcessing = true
        resources.isInUse = true
        let isDone = runSlice(connection, until: end)
        resources.isInUse = false
        isProcessing = false
        flush()
        recount()
        let now = NIODeadline.now()
        if !isDone {
            usedTurn = now
            waitForTurn(isBusy: true)
            return now
        }
        if inputHasEnded, !isPaused, !isBusy, let loop {
            finish(connection.endInputInSteps(), of: connection.owner, on: loop)
        }
        readIfPending()
        return now
    }

    /// - Returns: false if the time is up and there is more.
    func runSlice(_ connection: Connection, until end: NIODeadline) -> Bool {
        var buffer = input
        input = ByteBuffer()
        var done = 0
        let isDone = buffer.withUnsafeReadableBytes { bytes in
            run(connection, bytes.bindMemory(to: UInt8.self), &done, &resources.input, until: end)
        }
        buffer.moveReaderIndex(forwardBy: done)
        if done > 0 { lineCount &+= 1 }
        if buffer.readableBytes > 0, !isClosing {
            if buffer.capacity > LoopResources.longLine, buffer.capacity > 4 * buffer.readableBytes {
                // The memory of a long line must not be kept for the few bytes after it.
                buffer = ByteBuffer(bytes: buffer.readableBytesView)
            } else {
                buffer.discardReadBytes()
            }
            // Input that came during the slice goes after the rest.
            let hasArrived = input.readableBytes > 0
            buffer.writeBuffer(&input)
            input = buffer
            return isDone && !hasArrived
        }
        return isDone && input.readableBytes == 0
    }

    func run(
        _ connection: Connection,
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ done: inout Int,
        _ state: inout LoopResources.Input,
        until end: NIODeadline
    ) -> Bool {
        // A local variable is not checked for exclusive access with every line.
        var framer = framer
        defer { self.framer = framer }
        var clock = TurnClock(end)
        let deliveries = resources.deliveries
        while !isPaused, !isClosing, !isReadingLine {
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
            case .overlong(let start):
                connection.receiveOverlongLine(UnsafeBufferPointer(rebasing: rest[start...].prefix(512)))
            case .needsMore: return true
            }
        }
        return true
    }

    /// Handles one line. An empty one is ignored.
    func receive(
        _ line: UnsafeBufferPointer<UInt8>,
        _ connection: Connection,
        _ state: inout LoopResources.Input
    ) {
        guard let first = line.first else { return }
        if line.count > LoopResources.longLine, let loop {
            isReadingLine = true
            longLineBytes = line.count
            let handler = NIOLoopBound(self, eventLoop: loop)
            resources.read(line, of: connection.owner, on: loop) {
                handler.value.received($0, WireForm(firstByte: first))
            }
        } else {
            receive(state.reader.read(line), WireForm(firstByte: first), connection, &state)
        }
    }

    func receive(
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

    func receive(
        _ message: consuming IncomingMessage,
        _ form: WireForm,
        _ connection: Connection,
        _ state: inout LoopResources.Input
    ) {
        connection.receive(message, &state.table, form: form)
        state.reader.giveBack(message)
    }

    /// Has another thread read a long member of a batch, like a long line.
    func readBeside(_ member: Batch.Member, _ connection: Connection, _ loop: any EventLoop) {
        isReadingLine = true
        let handler = NIOLoopBound(self, eventLoop: loop)
        resources.read(member, of: connection.owner, on: loop) {
            handler.value.received($0, .bridge)
        }
    }

    /// A long line has been read.
    func received(_ line: IncomingLine, _ form: WireForm) {
        isReadingLine = false
        longLineBytes = 0
        guard let connection, !isClosing else { return }
        isProcessing = true
        resources.isInUse = true
        receive(line, form, connection, &resources.input)
        resources.isInUse = false
        isProcessing = false
        flush()
        if let loop { resources.trimLater(on: loop) }
        processInput()
        endIfGone()
    }

    func receiveNextOfBatch(_ connection: Connection, _ state: inout LoopResources.Input) {
        guard var batch else { return }
        self.batch = nil
        guard let member = batch.next() else { return }
        self.batch = batch
        if member.count > LoopResources.longLine, let loop {
            readBeside(member, connection, loop)
        } else {
            receive(state.reader.read(member), .bridge, connection, &state)
        }
    }
}
