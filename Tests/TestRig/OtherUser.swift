import Foundation

/// Another user of this device, for what a test does in its name. Only root can become one.
public struct OtherUser: Sendable {
    public let uid: UInt32
    public let groups: [UInt32]

    public init(uid: UInt32, groups: [UInt32] = []) {
        self.uid = uid
        self.groups = groups
    }

    /// The user nobody, who is in no group that matters.
    public static let nobody = OtherUser(uid: 65534)

    /// Why no test can be another user here; nil where it can.
    public static var isMissing: String? { geteuid() == 0 ? nil : "only root can connect as another user" }

    private struct CannotChange: Error {}
    private typealias SystemCall = @convention(c) (Int, Int, Int, Int) -> Int

    /// Runs `body` on a thread that has this user's ids, and no other: a connection made there is this user's for good.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread {
                continuation.resume(
                    with: Result {
                        try become()
                        return try body()
                    }
                )
            }.start()
        }
    }

    /// asm/unistd.h: their numbers on this architecture.
    private enum Number {
        #if arch(x86_64)
            static let setgroups = 116
            static let setresuid = 117
            static let setresgid = 119
        #else
            static let setgroups = 159
            static let setresuid = 147
            static let setresgid = 149
        #endif
    }

    /// The system calls themselves change one thread; those of the C library change all of them.
    private func become() throws {
        guard let symbol = dlsym(nil, "syscall") else { throw CannotChange() }
        let call = unsafeBitCast(symbol, to: SystemCall.self)
        let groups = groups
        let isDone = groups.withUnsafeBufferPointer { list in
            call(Number.setgroups, list.count, Int(bitPattern: list.baseAddress), 0) == 0
        }
        guard isDone, call(Number.setresgid, Int(uid), Int(uid), Int(uid)) == 0,
            call(Number.setresuid, Int(uid), Int(uid), Int(uid)) == 0
        else { throw CannotChange() }
    }
}
