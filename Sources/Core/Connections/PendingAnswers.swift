/// The unanswered calls to a client's handlers, by the numbers in their ids: `q7` has 7.
struct PendingAnswers {
    private var receivers: [Int: any AnswerReceiver] = [:]
    private var count = 0

    var isEmpty: Bool { receivers.isEmpty }

    /// - Returns: the number of the call.
    mutating func add(_ receiver: any AnswerReceiver) -> Int {
        count += 1
        receivers[count] = receiver
        return count
    }

    mutating func take(_ number: Int) -> (any AnswerReceiver)? { receivers.removeValue(forKey: number) }

    mutating func takeAll() -> [(number: Int, receiver: any AnswerReceiver)] {
        defer { receivers = [:] }
        return receivers.map { (number: $0.key, receiver: $0.value) }
    }
}

/// The waiting calls of a connection.
struct WaitingList {
    private var members: [ObjectIdentifier: WaitingCall] = [:]
    /// The memory that their messages use, in bytes.
    private(set) var bytes = 0

    var count: Int { members.count }
    /// About how much memory the calls use, in bytes.
    var memory: Int { bytes + 768 * members.count }
    var isEmpty: Bool { members.isEmpty }
    var calls: [WaitingCall] { Array(members.values) }

    mutating func add(_ call: WaitingCall) {
        members[ObjectIdentifier(call)] = call
        bytes += call.messageBytes
    }

    mutating func remove(_ call: WaitingCall) {
        if members.removeValue(forKey: ObjectIdentifier(call)) != nil { bytes -= call.messageBytes }
    }
}
