import Configuration
import Foundation
import QuickConnect
import Synchronization
import TestRig

@testable import quickconnect_scripts

/// A script that runs on a thread of this process, against a tiny daemon. It must come to its end by itself.
final class ScriptThread: Sendable {
    private let folder: TestFolder
    private let result = Mutex<Int32?>(nil)

    init(_ text: String, daemon: TinyDaemon, limits: ScriptLimits = ScriptLimits()) throws {
        folder = try TestFolder()
        try folder.write(text, to: "bell.js")
        var limits = limits
        // The process is that of all tests.
        limits.memoryBytes = 8 << 30
        limits.sharePercent = 100_000
        let source = ScriptSource(path: folder("bell.js"), arguments: [])
        let path = daemon.path
        Thread.detachNewThread { [self, limits] in
            let status = ScriptRunner(source, limits, Limits(), paths: [path], isConfined: false).run()
            result.withLock { $0 = status }
        }
    }

    /// Its exit status.
    func end() async throws -> Int32 {
        try await eventually("the script ends") { result.withLock { $0 } != nil }
        return result.withLock { $0 } ?? -1
    }
}
