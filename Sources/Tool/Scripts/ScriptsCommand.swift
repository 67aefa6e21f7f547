import ArgumentParser
import CommandLineText
import JSON
import Linux

struct ScriptsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scripts",
        abstract: "Lists the scripts that the script host runs: state, memory, CPU, calls, last error.",
        discussion: """
            Examples:
              quickconnect scripts
              quickconnect scripts --json
            """
    )

    @OptionGroup var output: AnswerOptions

    func run() throws {
        guard let answer = output.forPeople(try answer()) else { return }
        say(ScriptTable(answer.objectValue ?? [:]).text(width: Terminal.width))
    }
}

extension ScriptsCommand {
    private func answer() throws -> JSONValue {
        do {
            return try output.connection.call("scripts")
        } catch let end as ExitError where end.code == "unavailable" {
            throw ExitError(message: OwnPrograms.noScriptHost, status: end.status)
        }
    }
}

/// What `scripts` answers, in words.
private struct ScriptTable {
    let answer: JSONObject

    init(_ answer: JSONObject) { self.answer = answer }

    func text(width: Int) -> String {
        let scripts = (answer["scripts"]?.arrayValue ?? []).compactMap(\.objectValue)
        let folder = answer["folder"]?.stringValue ?? ""
        let end = unread(folder).map { "\($0.escapingControls) does not run: a script's name ends in .js" } + [limits]
        guard !scripts.isEmpty else { return (["No scripts in \(folder)."] + end).joined(separator: "\n") }
        let titles = ["SCRIPT", "STATE", "UP", "MEMORY", "CPU", "CALLS", "ANSWERS", "RESTARTS"]
        let rows = Table.columns([titles] + scripts.map(row), right: Set(2..<titles.count)).split(separator: "\n")
        var lines: [String] = []
        for (row, script) in zip(rows, [nil] + scripts.map(Optional.some)) {
            lines.append(String(row))
            for text in ["error", "warning"].compactMap({ script?[$0]?.stringValue }) {
                lines += text.wrapped(to: max(width - 4, 20)).map { "    \($0)" }
            }
            if let dropped = script?["droppedLines"]?.integerValue, dropped > 0 {
                lines.append("    \(dropped) lines of its console were dropped")
            }
        }
        return (lines + ["", "in \(folder)"] + end).joined(separator: "\n")
    }

    /// Files with nearly the name of a script: the host reads `*.js` only.
    private func unread(_ folder: String) -> [String] {
        let slips = [".js", ".jss", ".mjs", ".cjs", ".js.txt"]
        let names = (FileText.names(in: folder) ?? []).filter { !$0.hasSuffix(".js") && !$0.hasPrefix(".") }
        return names.filter { name in slips.contains { name.lowercased().hasSuffix($0) } }.sorted()
    }

    private func row(_ script: JSONObject) -> [String] {
        func number(_ key: String) -> String { script[key]?.integerValue.map { "\($0)" } ?? "-" }
        return [
            script["name"]?.stringValue ?? "", script["state"]?.stringValue ?? "",
            script["seconds"]?.integerValue.map(Self.time) ?? "-",
            script["memoryBytes"]?.integerValue.map { "\($0 >> 20) MiB" } ?? "-",
            script["cpuSeconds"]?.numberValue.map { "\(($0 * 100).rounded() / 100) s" } ?? "-", number("calls"),
            number("answers"), number("restarts"),
        ]
    }

    /// `42 s`, `7 min`, `3 h`, `12 d`.
    private static func time(_ seconds: Int64) -> String {
        switch seconds {
        case ..<100: "\(seconds) s"
        case ..<6000: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) d"
        }
    }

    private var limits: String {
        let limits = answer["limits"]?.objectValue ?? [:]
        func text(_ key: String) -> String { limits[key]?.numberValue.map(JSONValue.short) ?? "?" }
        let memory = (limits["memoryBytes"]?.integerValue ?? 0) >> 20
        let console = (limits["consoleBytes"]?.integerValue ?? 0) >> 10
        return """
            limits: \(text("cpuTime")) s of CPU time for one entry, \(text("handlerTime")) s for a handler's call, \
            \(memory) MiB of memory, \(text("sharePercent")) % of a core over \(text("shareTime")) s, \
            timers of \(JSONValue.short((limits["timer"]?.numberValue ?? 0) * 1000)) ms, \(text("calls")) calls under way, \
            \(console) KiB/s of console
            """
    }
}
