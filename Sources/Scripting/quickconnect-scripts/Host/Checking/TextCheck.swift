internal import CLinux
internal import Glibc
internal import JSON
internal import JavaScriptCore
internal import Linux
internal import MacroEngine
internal import SyntaxChecking

/// The process that parses texts without running them: it reads them from its socket, one per line, and writes what it finds.
///
/// It has no file, no socket but that one, and a second of processor time for each text.
enum TextCheck {
    /// The most bytes of a line: a text of 4 MiB in which each character is escaped.
    private static let lineBytes = 32 << 20
    /// Where it uses more after a text, it ends: another process begins with little.
    private static let keptBytes = 128 << 20

    /// Answers texts until its host is gone.
    /// - Returns: the exit status: 0; 1 if it cannot be confined; 2 if no host has started it.
    static func run(_ environment: [String: String]) -> Int32 {
        guard let host = environment[CheckProcess.hostVariable].flatMap({ pid_t($0) }), host == getppid() else {
            Descriptor.write(
                "quickconnect-scripts: \(CheckProcess.flag) is for programs of its own\n",
                to: STDERR_FILENO
            )
            return 2
        }
        qc_end_with_parent(host)
        // Whoever else computes on this device goes first, but somebody waits for this.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        do throws(SystemCallError) {
            // Before the engine has threads.
            try Confinement().enter()
        } catch {
            Descriptor.write("quickconnect-scripts: it cannot be confined: \(error)\n", to: STDERR_FILENO)
            return 1
        }
        return answer()
    }

    private static func answer() -> Int32 {
        guard let machine = JSVirtualMachine(), let context = JSContext(virtualMachine: machine) else { return 1 }
        var splitter = LineSplitter(limit: lineBytes)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(CheckProcess.channel, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return 0 }
            var isAnswered = false
            buffer.withUnsafeBufferPointer { bytes in
                splitter.split(UnsafeBufferPointer(rebasing: bytes[..<count])) { line in
                    Descriptor.write("\(answer(to: line, machine, context))\n", to: CheckProcess.channel)
                    isAnswered = true
                }
            }
            guard isAnswered else { continue }
            if ProcessFile.residentBytes(of: "self") > keptBytes { return 0 }
        }
    }

    private static func answer(
        to line: LineSplitter.Line,
        _ machine: JSVirtualMachine,
        _ context: JSContext
    ) -> String {
        limitTime()
        let began = seconds
        let json: JSONValue? = if case .line(let bytes) = line { try? JSONParser.parse(bytes.span) } else { nil }
        let verdict: CheckVerdict =
            if let text = json.flatMap(CheckedText.init) {
                Self.verdict(on: text, context)
            } else {
                .unchecked("the text is too long")
            }
        setTimer(0)
        // Now, because the next text would have to wait for it, which may be somebody else's.
        machine.collectGarbage()
        return verdict.json(of: json?.objectValue?["number"] ?? .null, seconds: seconds - began).text
    }

    private static func verdict(on checked: CheckedText, _ context: JSContext) -> CheckVerdict {
        switch checked.kind {
        case .script:
            if let mistake = ScriptSyntax.mistake(in: checked.text, context) { return .mistake(mistake.json) }
            return .valid(functionBytes: checked.text.utf8.count)
        case .macro:
            do throws(MacroError) {
                return .valid(functionBytes: try MacroSyntax.functionBytes(in: checked.text, context))
            } catch {
                return .mistake(error.json)
            }
        }
    }

    // MARK: Processor time

    /// The kernel ends this process when the text has taken its time, and in any case where the timer has been taken back.
    private static func limitTime() {
        setTimer(CheckProcess.seconds)
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_CPU.rawValue)
        guard getrlimit(kind, &limit) == 0 else { return }
        limit.rlim_cur = min(rlim_t(seconds.rounded(.up)) + 2, limit.rlim_max)
        setrlimit(kind, &limit)
    }

    private static func setTimer(_ seconds: Double) {
        var timer = itimerval()
        timer.it_value.tv_sec = Int(seconds)
        timer.it_value.tv_usec = Int((seconds - seconds.rounded(.down)) * 1e6)
        setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    }

    /// What this process has taken so far.
    private static var seconds: Double { KernelClock.seconds(of: CLOCK_PROCESS_CPUTIME_ID) }
}

extension MacroError {
    /// {"message", "line"?, "column"?, "source"?}. The engine's message quotes a word of the text, however long it is.
    fileprivate var json: JSONObject {
        JSONObject(present: [
            "message": .string(Self.cut(message, 500)), "line": line.map { .integer(Int64($0)) },
            "column": column.map { .integer(Int64($0)) }, "source": source.map { .string(Self.cut($0, 200)) },
        ])
    }

    /// By code points: one character may have any number of them.
    private static func cut(_ text: String, _ count: Int) -> String { String(text.unicodeScalars.prefix(count)) }
}
