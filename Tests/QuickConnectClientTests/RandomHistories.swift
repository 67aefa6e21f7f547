import JSON
import TestRig
import Testing

@testable import QuickConnectClient

/// What a conversation should do, in the plainest way: a list, looked through each time.
private struct Model {
    enum State { case waiting, sent, givenUp, over }

    struct Call {
        var id: CallID
        var deadline: ContinuousClock.Instant?
        var state = State.waiting
    }

    let most: Int
    var calls: [Call] = []
    var handlers: [String] = []
    var isConnected = false
    /// What is to be said and told since the last time.
    var said: [String] = []
    var told: [ClientConversation.Event] = []

    private var underWay: Int { calls.count { $0.state == .sent || $0.state == .givenUp } }

    mutating func call(_ id: CallID, _ deadline: ContinuousClock.Instant?) {
        calls.append(Call(id: id, deadline: deadline))
        goOn()
    }

    private mutating func goOn() {
        guard isConnected else { return }
        for index in calls.indices where calls[index].state == .waiting && underWay < most {
            calls[index].state = .sent
            said.append(calls[index].id.text)
        }
    }

    mutating func connect() {
        guard !isConnected else { return }
        isConnected = true
        said += handlers.map { "registerHandler \($0)" }
        goOn()
    }

    mutating func lose() {
        isConnected = false
        said = []
        for index in calls.indices {
            if calls[index].state == .sent { told.append(.failed(calls[index].id, .connectionLost("x"))) }
            if calls[index].state != .waiting { calls[index].state = .over }
        }
    }

    mutating func reply(_ id: CallID) {
        guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
        if calls[index].state == .sent { told.append(.replied(id, command: "x", 1)) }
        if calls[index].state == .sent || calls[index].state == .givenUp { calls[index].state = .over }
        goOn()
    }

    mutating func giveUp(_ id: CallID, _ failure: CallFailure) {
        guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
        switch calls[index].state {
        case .givenUp, .over: return
        case .waiting: calls[index].state = .over
        case .sent:
            calls[index].state = .givenUp
            said.append("cancel \(id.text)")
        }
        told.append(.failed(id, failure))
    }

    mutating func advance(to now: ContinuousClock.Instant) {
        let late = calls.filter { $0.deadline.map { $0 <= now } ?? false && $0.state != .over && $0.state != .givenUp }
        for call in late.sorted(by: { ($0.deadline ?? now, $0.id.number) < ($1.deadline ?? now, $1.id.number) }) {
            giveUp(call.id, .timedOut)
        }
    }

    mutating func register(_ name: String) {
        guard !handlers.contains(name) else { return }
        handlers.append(name)
        if isConnected { said.append("registerHandler \(name)") }
    }

    mutating func remove(_ name: String) {
        guard let index = handlers.firstIndex(of: name) else { return }
        handlers.remove(at: index)
        if isConnected { said.append("removeHandler \(name)") }
    }
}

@Suite("A client's conversation: histories made at random")
struct RandomHistories {
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `whatever happens, and in whatever order, it does what the model does`(seed: UInt64) throws {
        try histories(30, seed)
    }

    @Test(.slow, arguments: [11, 12, 13, 14] as [UInt64])
    func `it does so a thousand times more`(seed: UInt64) throws { try histories(250, seed) }

    private func histories(_ count: Int, _ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<count { try history(&random, seed) }
    }

    private func history(_ random: inout SeededGenerator, _ seed: UInt64) throws {
        var bounds = ClientConversation.Bounds()
        bounds.callsUnderWay = 1 + random.below(4)
        var conversation = ClientConversation(bounds: bounds)
        var model = Model(most: bounds.callsUnderWay)
        var now = ContinuousClock.now
        var told: Set<CallID> = []
        for step in 0..<200 {
            let id = model.calls.isEmpty ? CallID(.inOrder, 7) : random.pick(model.calls).id
            switch random.below(16) {
            case 0...4:
                let deadline = random.below(3) == 0 ? now + .milliseconds(random.below(50)) : nil
                model.call(conversation.call("x", before: deadline), deadline)
            case 5...8:
                feed(#"{"responseId":"\#(id.text)","responseData":1}"#, to: &conversation, &random)
                model.reply(id)
            case 9:
                conversation.cancel(id)
                model.giveUp(id, .cancelled)
            case 10:
                now += .milliseconds(random.below(30))
                conversation.advance(to: now)
                model.advance(to: now)
            case 11:
                if !conversation.isConnected { conversation.connected() }
                model.connect()
            case 12:
                conversation.lost("x")
                model.lose()
            case 13:
                let name = random.pick(["a", "b", "c"])
                conversation.register(handler: name)
                model.register(name)
            case 14:
                let name = random.pick(["a", "b", "c"])
                conversation.remove(handler: name)
                model.remove(name)
            default:
                if conversation.isConnected { feed(random.pick(["", "?", "{}", "[1]"]), to: &conversation, &random) }
            }
            let events = conversation.takeEvents().filter { if case .fault = $0 { false } else { true } }
            try #require(events == model.told, "seed \(seed), step \(step)")
            for event in events { try #require(told.insert(event.id ?? id).inserted, "seed \(seed): told twice") }
            if random.below(3) == 0 || !conversation.isConnected {
                try #require(said(&conversation) == model.said, "seed \(seed), step \(step)")
                model.said = []
            }
            model.told = []
            let open = model.calls.count { $0.state != .over }
            // What it says of its own is not the model's.
            try #require(conversation.waitingCount == model.calls.count { $0.state == .waiting }, "seed \(seed)")
            try #require(conversation.callCount >= open, "seed \(seed), step \(step)")
        }
    }

    /// A line in pieces of any length.
    private func feed(_ line: String, to conversation: inout ClientConversation, _ random: inout SeededGenerator) {
        guard conversation.isConnected else { return }
        var bytes = Array("\(line)\n".utf8)[...]
        while !bytes.isEmpty {
            let piece = bytes.prefix(1 + random.below(40))
            piece.withUnsafeBufferPointer { conversation.receive($0) }
            bytes = bytes.dropFirst(piece.count)
        }
    }

    /// What it says, in the model's words.
    private func said(_ conversation: inout ClientConversation) -> [String] {
        conversation.said().map { line in
            let parts = line.matches(of: /"(handlerName|data|callbackId)":\[?"([^"]*)"/).map { String($0.2) }
            return parts[0] == "x" ? parts[1] : "\(parts[0]) \(parts[1])"
        }
    }
}
