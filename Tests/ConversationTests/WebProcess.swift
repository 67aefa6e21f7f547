import Foundation
import JSON
import TestRig

/// A daemon with simulated devices, and quickconnect-web in front of it, as processes on private paths.
final class WebProcess {
    let folder: TestFolder
    private let mappings: TestFolder
    private let options: Options
    private(set) var daemon: ChildProcess
    private(set) var web: ChildProcess
    private(set) var port: UInt16 = 0

    var socket: String { folder("socket") }
    var host: String { "127.0.0.1:\(port)" }
    var origin: String { "http://\(host)" }

    struct Options {
        /// Beside the shipped mappings.
        var mappings = ""
        /// Of the gateway's socket of the daemon.
        var commands = [
            "ping", "hello", "loc", "subscribe", "unsubscribe", "post", "registerHandler", "logMessage", "sounds",
            "innerProgress", "reload", "never", "state",
        ]
        var connections = 1024
        /// Below `web:` of the settings.
        var web = ""
        /// Further settings.
        var settings = ""
        var flags: [String] = []
        var listen = "127.0.0.1:0"
    }

    init(_ options: Options = Options()) async throws {
        folder = try TestFolder()
        self.options = options
        mappings = try TestFolder.mappings("never: {business: [\"script:silent\"], timeout: 60s}\n" + options.mappings)
        let settings = """
            sockets:
              - path: \(folder("web.sock"))
                gateway: web
                user: \(String(cString: getpwuid(geteuid()).pointee.pw_name))
                connections: \(options.connections)
                commands: [\(options.commands.joined(separator: ", "))]
            web: {\(options.web)}
            \(options.settings)
            """
        try folder.write(settings, to: "settings.yaml")
        try FileManager.default.createDirectory(atPath: folder("pages"), withIntermediateDirectories: true)
        try folder.write("<!doctype html><title>hello</title>", to: "pages/index.html")
        daemon = try Self.startDaemon(folder, mappings.path)
        web = try Self.startWeb(folder, options)
        try await awaitDaemon()
        try await awaitWeb()
    }

    // MARK: The processes

    private static let environment = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]

    private static func startDaemon(_ folder: TestFolder, _ mappings: String) throws -> ChildProcess {
        try ChildProcess(
            Products.path("quickconnectd"),
            [
                "--simulate", "--config", folder("settings.yaml"), "--socket", folder("socket"), "--media",
                folder("media"), "--sounds", Products.root + "/sounds", "--mappings", mappings,
            ],
            environment: environment
        )
    }

    private static func startWeb(_ folder: TestFolder, _ options: Options) throws -> ChildProcess {
        try ChildProcess(
            Products.path("quickconnect-web"),
            [
                "--config", folder("settings.yaml"), "--socket", folder("socket"), "--pages", folder("pages"),
                "--state",
                folder("state"), "--listen", options.listen,
            ] + options.flags,
            environment: environment
        )
    }

    private func awaitDaemon() async throws {
        try await eventually("the daemon listens") { [daemon, socket] in
            if daemon.poll() != nil { throw NotInTime(description: "the daemon ended: \(daemon.errors)") }
            return (try? SocketClient(path: socket)) != nil
        }
    }

    /// Until it listens, and answers the command web.
    private func awaitWeb() async throws {
        try await eventually("the gateway listens") { [web] in
            if web.poll() != nil { throw NotInTime(description: "the gateway ended: \(web.errors)") }
            return web.errors.contains("listening on ")
        }
        if let text = web.errors.split(separator: "http://127.0.0.1:").dropFirst().first?.prefix(while: \.isNumber) {
            port = UInt16(text) ?? 0
        }
        try await awaitControl()
    }

    func awaitControl() async throws {
        let client = try connect()
        try await eventually("it answers the command web") {
            try await client.value("state", []).text.contains("\"web\"")
        }
    }

    func killDaemon() async throws {
        daemon.send(SIGKILL)
        try await daemon.wait()
    }

    func startDaemon() async throws {
        daemon = try Self.startDaemon(folder, mappings.path)
        try await awaitDaemon()
    }

    func stopWeb() async throws -> ChildProcess.Exit {
        web.send(SIGTERM)
        return try await web.wait()
    }

    func startWeb() async throws {
        web = try Self.startWeb(folder, options)
        try await awaitWeb()
    }

    // MARK: As its users

    func connect() throws -> SocketClient { try SocketClient(path: socket) }

    /// Makes a user, and gives the token.
    func token(of name: String, groups: [String] = []) async throws -> String {
        let options: JSONValue = ["groups": .array(groups.map { .string($0) })]
        let answer = try await connect().value("web", ["add", .string(name), options])
        return answer.objectValue?["token"]?.stringValue ?? ""
    }

    /// Logs in, and gives the cookie.
    func cookie(of name: String, groups: [String] = []) async throws -> String {
        try await logIn(["token": .string(token(of: name, groups: groups))])
    }

    func logIn(_ secret: JSONValue) async throws -> String {
        let answer = try await ask("POST", "/login", ["Content-Type: application/json"], body: secret.text)
        return answer.cookie ?? ""
    }

    func connection(from address: String? = nil) throws -> WebConnection { try WebConnection(port, from: address) }

    /// One request on a connection of its own.
    /// - Parameter host: nil: none.
    func ask(
        _ method: String,
        _ target: String,
        _ headers: [String] = [],
        host: String? = "",
        body: String? = nil,
        from address: String? = nil
    ) async throws -> WebAnswer {
        let connection = try connection(from: address)
        connection.send(request(method, target, headers, host: host, body: body))
        return try await connection.answer(isHead: method == "HEAD")
    }

    func request(
        _ method: String,
        _ target: String,
        _ headers: [String] = [],
        host: String? = "",
        body: String? = nil
    ) -> String {
        var lines = ["\(method) \(target) HTTP/1.1"]
        if let host { lines.append("Host: \(host.isEmpty ? self.host : host)") }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return (lines + headers + ["", ""]).joined(separator: "\r\n") + (body ?? "")
    }

    /// The headers that ask for a WebSocket.
    static let upgrade = [
        "Upgrade: websocket", "Connection: keep-alive, Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]

    /// Opens a page's WebSocket.
    func page(_ cookie: String, at target: String = "/bridge") async throws -> WebConnection {
        let (connection, answer) = try await handshake(["Origin: \(origin)", "Cookie: \(cookie)"], at: target)
        guard answer.status == 101 else { throw NotInTime(description: "no WebSocket: \(answer)") }
        return connection
    }

    func handshake(
        _ headers: [String],
        host: String? = "",
        at target: String = "/bridge"
    ) async throws -> (WebConnection, WebAnswer) {
        let connection = try connection()
        connection.send(request("GET", target, Self.upgrade + headers, host: host))
        return (connection, try await connection.answer())
    }
}

extension ChildProcess {
    var errors: String { String(decoding: standardError, as: UTF8.self) }

    /// The resident memory in KiB.
    var memory: Int {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }
    /// The memory that is no file's, in KiB.
    var anonymousMemory: Int {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }
}
