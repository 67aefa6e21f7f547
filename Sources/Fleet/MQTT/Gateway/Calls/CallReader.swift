package import Fleet
package import JSON
package import QuickConnect
internal import QuickConnectClient

/// Reads messages as calls. Anybody can write anything in a message; the caller's name is in the topic, to which the
/// broker lets only that caller publish.
package struct CallReader: Sendable {
    let topics: FleetTopics
    let device: String
    let groups: Set<String>
    /// The commands that the settings allow callers; nil: those that the daemon's socket lists.
    let commands: Set<ByteName>?
    /// The time within which members of a group answer, if a call does not set it.
    let spread: Duration
    /// The largest payload, which is that of the daemon.
    let payloadBytes: Int

    package init(
        topics: FleetTopics,
        device: String,
        groups: Set<String>,
        commands: Set<ByteName>?,
        spread: Duration,
        payloadBytes: Int
    ) {
        self.topics = topics
        self.device = device
        self.groups = groups
        self.commands = commands
        self.spread = spread
        self.payloadBytes = payloadBytes
    }

    /// The contents of a message.
    package enum Reading: Sendable {
        case call(IncomingCall, CallKey?)
        /// A call that is refused. Its caller is told.
        case refused(AnswerAddress, CommandError, CallKey?)
        /// Not a call for this device, or one that cannot be answered.
        case ignored(String)
    }

    private static let maxSpread = 600.0

    /// Reads all of a message.
    /// - Parameter now: the start of its expiry interval.
    package func read(_ message: MQTTMessage, at now: ContinuousClock.Instant) -> Reading {
        let reading = readHead(message, at: now)
        guard case .call(var call, let key) = reading else { return reading }
        switch Self.body(message.payload) {
        case .failure(let error): return .refused(call.answer, error, key)
        case .success(let body):
            call.message = body
            return .call(call, key)
        }
    }

    /// Reads everything but the payload, which may be long: the call has no parameters yet.
    func readHead(_ message: MQTTMessage, at now: ContinuousClock.Instant) -> Reading {
        guard let call = topics.readCall(message.topic), isForUs(call.target) else {
            return .ignored("a message to \(message.topic.prefix(200)), which is not a call to this device")
        }
        // An empty retained message only deletes a retained one; it is not a call.
        if message.isRetained, message.payload.isEmpty { return .ignored("a retained call was taken back") }
        let key = message.correlationData.map { CallKey(caller: call.caller, data: $0) }
        let address = address(of: call, message)
        do throws(CommandError) {
            let answer = try address.get()
            try check(message, call.command)
            let expiresAt = message.expirySeconds.map { now + .seconds(Int($0)) }
            return .call(IncomingCall(message: .none, answer: answer, expiresAt: expiresAt), key)
        } catch {
            let answer = (try? address.get()) ?? unusable(call, message)
            return .refused(answer, error, key)
        }
    }

    private func isForUs(_ target: FleetTopics.Target) -> Bool {
        switch target {
        case .device(let name): name == device
        case .group(let name): groups.contains(name)
        }
    }

    // MARK: Where the answer goes

    private func address(of call: FleetTopics.Call, _ message: MQTTMessage) -> Result<AnswerAddress, CommandError> {
        guard let response = message.responseTopic else { return .success(unusable(call, message)) }
        guard let topic = topics.answerTopic(response, of: device, to: call) else {
            let place = topics.reply(of: device, to: call.caller)
            return .failure(
                CommandError(.badRequest, "a response topic must be below \(place)/; the call was not done")
            )
        }
        var address = unusable(call, message)
        (address.topic, address.isAwaited) = (topic, true)
        return .success(address)
    }

    /// Where to send errors of a call that has no usable response topic.
    private func unusable(_ call: FleetTopics.Call, _ message: MQTTMessage) -> AnswerAddress {
        AnswerAddress(
            caller: call.caller,
            command: call.command,
            topic: topics.reply(of: device, to: call.caller),
            correlationData: message.correlationData,
            qos: min(message.qos, 1),
            isAwaited: false,
            spread: spread(of: call, message)
        )
    }

    private func spread(of call: FleetTopics.Call, _ message: MQTTMessage) -> Duration? {
        guard case .group = call.target else { return nil }
        guard let seconds = message.property(FleetProperty.spread).flatMap(Double.init), seconds >= 0 else {
            return spread
        }
        return .seconds(min(seconds, Self.maxSpread))
    }

    // MARK: What is asked for

    private func check(_ message: MQTTMessage, _ command: String) throws(CommandError) {
        guard !message.isRetained else {
            throw CommandError(
                .badRequest,
                "a call must not be retained, for the broker would repeat it; it was not done"
            )
        }
        guard message.expirySeconds != 0 else {
            throw CommandError(.timeout, "the call came too late, and was not done")
        }
        guard !FleetCommands.ofConnections.contains(command) else {
            throw CommandError(
                .unsupported,
                "'\(command)' holds for a connection, and callers over a broker have none; events are topics"
            )
        }
        guard commands?.contains(ByteName(command)) ?? true else {
            throw CommandError(
                .denied,
                "'\(command)' is not on the list 'commands' of 'mqtt' in the device's settings",
                details: ["rule": "mqtt: commands"]
            )
        }
        guard message.payload.count <= payloadBytes else {
            throw CommandError(.tooLarge, "a payload of more than \(payloadBytes) bytes")
        }
    }

    /// The parameters in a payload, on any thread: JSON, else one string. It is looked through, and not parsed.
    static func body(_ payload: [UInt8]) -> Result<CallMessage, CommandError> {
        guard let text = String(validating: payload, as: UTF8.self) else {
            return .failure(CommandError(.badRequest, "the payload is not UTF-8"))
        }
        guard text.unicodeScalars.first != "\u{FEFF}" else {
            let message = "the payload begins with U+FEFF, a byte order mark, which nobody sees; send it without"
            return .failure(CommandError(.badRequest, message))
        }
        if ["", "undefined"].contains(text) { return .success(.none) }
        do throws(JSONError) { try check(payload) } catch {
            guard case .syntax = error else {
                return .failure(CommandError(error.code, "the payload has \(error.message)"))
            }
            return .success(.json(JSONValue.string(text).text))
        }
        return .success(.json(payload.contains(where: isBreak) ? unbroken(payload) : text))
    }

    private static func check(_ payload: [UInt8]) throws(JSONError) {
        let result = payload.withUnsafeBufferPointer { bytes in
            Result { () throws(JSONError) in
                var scanner = JSONScanner(bytes)
                try scanner.skipValue()
                try scanner.finish()
                if let problem = scanner.problem { throw problem.error }
            }
        }
        try result.get()
    }

    private static func isBreak(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    /// JSON with spaces in place of line breaks, which are white space there: no string has one.
    private static func unbroken(_ json: [UInt8]) -> String {
        String(decoding: json.map { isBreak($0) ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }
}
