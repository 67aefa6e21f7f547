internal import Concurrency
internal import Glibc
internal import JSON
internal import QuickConnect
internal import QuickConnectClient

/// Who has called, for turns and shares: a user of this device, or a user of a gateway.
struct ProcedureCaller: Hashable, Sendable {
    let name: String
    let share: Share

    init(_ call: HandlerCall) {
        name = call.callerName
        if call.caller["gateway"] != nil {
            share = .quarter
        } else if let uid = call.caller["uid"]?.integerValue {
            share = uid == 0 || uid == Int64(geteuid()) ? .whole : name == Caller.scriptUser ? .half : .quarter
        } else {
            // The daemon itself.
            share = .whole
        }
    }
}
