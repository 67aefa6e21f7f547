import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux

struct WebSessionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "Lists the sessions of pages, or ends them.",
        subcommands: [WebSessionsListCommand.self, WebSessionsEndCommand.self],
        defaultSubcommand: WebSessionsListCommand.self
    )
}

struct WebSessionsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the sessions, with their start and the number of open pages."
    )

    @OptionGroup var output: AnswerOptions

    func run() throws {
        guard let answer = output.forPeople(try output.connection.web(["sessions"])) else { return }
        let rows = (answer.arrayValue ?? []).compactMap(\.objectValue).map { session in
            let since = Self.text(session["created"]?.integerValue ?? 0)
            let until = Self.text(session["expires"]?.integerValue ?? 0)
            let pages = session["pages"]?.integerValue ?? 0
            return [
                "web:\(session["user"]?.stringValue ?? "")",
                "since \(since), until \(until), \(pages) \(pages == 1 ? "page" : "pages") open",
            ]
        }
        say(rows.isEmpty ? "Nobody is logged in." : Table.text(rows, width: Terminal.width))
    }

    /// In the time zone of the device.
    private static func text(_ seconds: Int64) -> String {
        var (moment, parts) = (time_t(seconds), tm())
        localtime_r(&moment, &parts)
        var buffer = [CChar](repeating: 0, count: 32)
        let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M", &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

struct WebSessionsEndCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end",
        abstract: "Logs a user out everywhere, or everybody, and closes the open pages.",
        discussion: "Tokens stay valid: «quickconnect web user remove NAME» ends those, too."
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The name, without web:; without it, everybody.")
    var name: String?

    func run() throws {
        let parameters: [JSONValue] = ["end"] + (name.map { [.string($0)] } ?? [])
        let count = try connection.web(parameters).objectValue?["ended"]?.integerValue ?? 0
        say("\(count) \(count == 1 ? "session" : "sessions") ended.")
    }
}

struct WebStateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state",
        abstract: "Shows how many connections and pages are open, who holds most, and what is wrong."
    )

    @OptionGroup var output: AnswerOptions

    func run() throws {
        guard let answer = output.forPeople(try output.connection.web(["state"])) else { return }
        guard let state = answer.objectValue else { return say(answer.text) }
        func number(_ name: String) -> Int64 { state[name]?.integerValue ?? 0 }
        var rows = [
            ["connections", "\(number("connections")) of \(number("connectionLimit"))"],
            ["pages", "\(number("pages"))"],
            ["memory for peers", "\(number("bytes") >> 10) of \(number("byteLimit") >> 10) KiB"],
        ]
        for peer in (state["peers"]?.arrayValue ?? []).compactMap(\.objectValue) {
            let connections = peer["connections"]?.integerValue ?? 0
            let bytes = (peer["bytes"]?.integerValue ?? 0) >> 10
            rows.append([peer["peer"]?.stringValue ?? "", "\(connections) connections, \(bytes) KiB"])
        }
        for problem in state["problems"]?.arrayValue ?? [] { rows.append(["problem", problem.stringValue ?? ""]) }
        say(Table.text(rows, width: Terminal.width))
    }
}
