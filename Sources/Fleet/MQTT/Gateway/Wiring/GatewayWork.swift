import QuickConnectClient

/// What other threads have done for the gateway's loop.
enum GatewayWork: Sendable {
    /// The payloads of a batch of calls are read.
    case read(batch: Int, [CallQueue.Item])
    /// What is kept of a batch is written, or why not.
    case written(batch: Int, String?)
    /// What was to be written before a batch of calls has been, in the jobs of other batches.
    case passed(batch: Int)
    /// A long line of the daemon is parsed, for the session of that number; nil: for the gateway itself.
    case line(session: Int?, String, ParsedLine)
    /// The answer to a call is written.
    case answer(AnswerAddress, MQTTMessage, isRefusal: Bool)
}
