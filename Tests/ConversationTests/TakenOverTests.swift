import Foundation
import Glibc
import JSON
import Linux
import TestRig
import Testing

/// Native code in the processes that run JavaScript, as if their engine had been taken over (Tests/TakenOver): what it gets is
/// what the process has kept, without any unit around it.
@Suite("A process that somebody has taken over", .enabled(if: TakenOver.isPossible, "there is no C compiler"))
struct TakenOverTests {
    @Test func `what it tries works where nothing confines it`() async throws {
        let rig = try TakenOver()
        let results = try await rig.alone()
        for name in [
            "read /etc/passwd", "list /", "make a file", "make a folder", "rename a file", "remove a file", "fork",
            "socket IPv4", "socket IPv6", "socket local", "listen", "signal its parent",
            "read its parent's environment",
            "read /proc/self/net/unix", "read its thread's /proc/net/unix", "read /proc/self/environ",
            "use a memory file", "use a socket pair", "replace the filter", "read \(rig.folder("outside/secret"))",
            "write \(rig.folder("outside/secret"))", "empty \(rig.folder("outside/emptied"))",
        ] {
            #expect(results[name] == "done", "\(name)")
        }
    }

    @Test func `a script has its folder to read, the daemon's socket, and nothing else`() async throws {
        let rig = try TakenOver()
        try rig.put("quickconnect", in: "scripts/a.js")
        let daemon = try await DaemonProcess()
        rig.variables = ["TAKEN_OVER_CONNECTS": daemon.socket, "TAKEN_OVER_ONLY": "a.js"]
        try await rig.expect(
            done: ["read \(rig.folder("scripts/a.js"))", "socket local", "connect \(daemon.socket)"],
            in: try rig.host(daemon, ["--scripts", rig.folder("scripts"), "--macros", rig.folder("macros")])
        )
    }

    @Test(.enabled(if: TakenOver.kernelHasScopes, "Landlock has scopes from Linux 6.12 on"))
    func `nor any abstract socket, which has no file`() async throws {
        let (rig, free) = (try TakenOver(), try TakenOver())
        let name = "@quickconnect-\(getpid())-\(UInt64.random(in: 0...(.max)))"
        let listener = try UnixStreamSocket.make()
        defer { close(listener) }
        let bound = try UnixSocketAddress(name).withSocketAddress { bind(listener, $0, $1) }
        try #require(bound == 0 && listen(listener, 8) == 0)
        (rig.variables, free.variables) = (["TAKEN_OVER_CONNECTS": name], ["TAKEN_OVER_CONNECTS": name])
        #expect(try await free.alone()["connect \(name)"] == "done")
        try rig.put("1", in: "scripts/a.js")
        try await rig.expect(
            done: ["read \(rig.folder("scripts/a.js"))", "socket local"],
            in: try rig.start([rig.folder("scripts/a.js")])
        )
    }

    @Test func `so does one in the foreground`() async throws {
        let rig = try TakenOver()
        try rig.put("1", in: "scripts/a.js")
        try await rig.expect(
            done: ["read \(rig.folder("scripts/a.js"))", "socket local"],
            in: try rig.start([rig.folder("scripts/a.js")])
        )
    }

    @Test func `macros have their folders to read`() async throws {
        let rig = try TakenOver()
        try rig.put("function() { return 1 }", in: "macros/one.js")
        let daemon = try await DaemonProcess()
        rig.variables = ["TAKEN_OVER_ONLY": "macros"]
        try await rig.expect(
            done: ["read \(rig.folder("macros/one.js"))", "socket local"],
            in: try rig.host(daemon, ["--scripts", rig.folder("scripts"), "--macros", rig.folder("macros")])
        )
    }

    @Test func `a procedure has its data, procedures to read, and no socket`() async throws {
        let rig = try TakenOver()
        try rig.put("function execute(c) { c(Context.context().save({kind: 'x'})) }", in: "procedures/p.js")
        try rig.put("function execute(c) { c(1) }", in: "state/sets/q.js")
        let daemon = try await DaemonProcess()
        rig.variables = ["TAKEN_OVER_CONNECTS": daemon.socket]
        rig.files.append("state/data.db")
        let service = try rig.host(daemon, ["--procedures", "--procedure-folder", rig.folder("procedures")])
        let client = try daemon.connect()
        try await client.awaitCommand("data")
        #expect(try await client.value("execute", ["p"]) == 1)
        try await rig.expect(
            done: [
                "read \(rig.folder("procedures/p.js"))", "read \(rig.folder("state/data.db"))",
                "write \(rig.folder("state/data.db"))",
            ],
            in: service
        )
        // The data is whole after that, and others go on to use it.
        #expect(try await client.value("execute", ["p"]) == 2)
    }

    @Test func `where a unit refuses seccomp and Landlock a script runs, and is confined`() async throws {
        let rig = try TakenOver()
        try rig.put("1", in: "scripts/a.js")
        let source = Products.root + "/Tests/TakenOver/service.c"
        let built = try await ChildProcess.run("cc", ["-o", rig.folder("service"), source])
        try #require(built.exit == .status(0), "\(built)")
        let process = try rig.start([rig.folder("scripts/a.js")], by: rig.folder("service"))
        try await eventually("it has tried all") { TakenOver.results(process)["end"] != nil }
        let results = TakenOver.results(process)
        for name in ["fork", "socket IPv4", "socket IPv6", "make a file", "write \(rig.folder("scripts/a.js"))"] {
            #expect(results[name] == "EPERM", "\(name)")
        }
    }

    @Test(arguments: ["", "user/"], ["scripts", "data"])
    func `the units let what runs JavaScript confine itself`(folder: String, unit: String) throws {
        let path = "\(Products.root)/systemd/\(folder)quickconnect-\(unit).service"
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let calls = "seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self"
        #expect(lines.contains("SystemCallFilter=\(calls)"))
    }

    @Test func `who only parses has the set that it parses, or nothing`() async throws {
        let rig = try TakenOver()
        try rig.put("function execute(c) { c(1) }", in: "procedures/p.js")
        try await rig.expect(
            done: ["read \(rig.folder("procedures/p.js"))"],
            in: try rig.start(["--check-set", rig.folder("procedures")])
        )
        rig.variables = ["QUICKCONNECT_CHECK_HOST": "\(getpid())"]
        try await rig.expect(done: [], in: try rig.start(["--check-texts"]))
    }

    @Test func `the test of a procedure has the procedures, and its own data`() async throws {
        let rig = try TakenOver()
        try rig.put("function execute(c) { c(1) }", in: "procedures/p.js")
        try rig.put(#"[{"arguments": [], "expected": 1}]"#, in: "procedures/p.test.json")
        try await rig.expect(
            done: ["read \(rig.folder("procedures/p.js"))"],
            in: try rig.start(["--test-procedure", rig.folder("procedures/p.js")])
        )
    }
}

/// The library that takes a process over, and files to try.
final class TakenOver {
    let folder: TestFolder
    /// More variables of its environment.
    var variables: [String: String] = [:]
    /// What it tries to read and to write, where it is there when that is tried.
    var files = ["outside/secret", "scripts/a.js", "macros/one.js", "procedures/p.js", "state/sets/q.js"]

    static var kernelHasScopes: Bool {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return (version.majorVersion, version.minorVersion) >= (6, 12)
    }

    static var isPossible: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/cc") }

    init() throws {
        folder = try TestFolder()
        for name in ["outside", "scripts", "macros", "procedures", "state/sets"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        for name in ["secret", "emptied", "given", "removed"] { try put("secret", in: "outside/\(name)") }
        try folder.write("{}", to: "settings.yaml")
    }

    func put(_ text: String, in file: String) throws { try folder.write(text, to: file) }

    private func compile(_ arguments: String...) async throws {
        let source = Products.root + "/Tests/TakenOver/taken-over.c"
        let outcome = try await ChildProcess.run("cc", arguments + [source, "-ldl"])
        try #require(outcome.exit == .status(0), "\(outcome)")
    }

    private var environment: [String: String] {
        let paths = files.filter { $0.hasSuffix(".db") || folder.exists($0) }.map { folder($0) }.joined(separator: ":")
        return [
            "PATH": "/usr/bin:/bin", "HOME": folder("home"), "STATE_DIRECTORY": folder("state"),
            "TAKEN_OVER_FOLDER": folder("outside"),
            "TAKEN_OVER_READS": "\(paths):/etc/hostname:/proc/1/environ:/proc/1/mem",
            "TAKEN_OVER_WRITES": paths, "TAKEN_OVER_EMPTIES": folder("outside/emptied"),
        ].merging(variables) { $1 }
    }

    func alone() async throws -> [String: String] {
        try await compile("-DALONE", "-o", folder("alone"))
        // A parent that may be harmed.
        let process = try ChildProcess("/bin/sh", ["-c", "\"$0\"; :", folder("alone")], environment: environment)
        _ = try await process.wait()
        return Self.results(process)
    }

    /// Starts the program that runs JavaScript, with the library in it and in the processes that it starts.
    /// - Parameter launcher: a program that runs it.
    func start(_ words: [String], socket: String = "/nowhere", by launcher: String? = nil) throws -> ChildProcess {
        var environment = environment
        environment["QUICKCONNECT_SOCKET"] = socket
        environment["SOURCE"] = Products.root + "/Tests/TakenOver/taken-over.c"
        environment["LIBRARY"] = folder("taken-over.so")
        let script = """
            cc -shared -fPIC -o "$LIBRARY" "$SOURCE" -ldl && exec $LAUNCHER /usr/bin/env LD_PRELOAD="$LIBRARY" "$0" "$@"
            """
        environment["LAUNCHER"] = launcher ?? ""
        let command = [Products.path("quickconnect-scripts"), "--config", folder("settings.yaml")] + words
        return try ChildProcess("/bin/sh", ["-c", script] + command, environment: environment)
    }

    func host(_ daemon: DaemonProcess, _ words: [String]) throws -> ChildProcess {
        try start(words, socket: daemon.socket)
    }

    /// Expects that, of all that it tries, these succeed, and that the kernel refuses the rest.
    func expect(done: Set<String>, in process: ChildProcess) async throws {
        try await eventually("it has tried all") { Self.results(process)["end"] != nil }
        let results = Self.results(process)
        #expect(results.count > 70)
        for (name, result) in results where name != "end" && !name.hasPrefix("has descriptors") {
            if done.contains(name) {
                #expect(result == "done", "\(name)")
            } else {
                // This machine may not have the device, nor one that opens without being set up.
                let isMissing = name.hasPrefix("open /dev/") && ["ENOENT", "ENXIO", "ENODEV"].contains(result)
                #expect(isMissing || ["EPERM", "EACCES"].contains(result), "\(name)")
            }
        }
        for name in done { #expect(results[name] != nil, "\(name)") }
        #expect(try String(contentsOfFile: folder("outside/emptied"), encoding: .utf8) == "secret")
    }

    /// What came of each thing that was tried first.
    static func results(_ process: ChildProcess) -> [String: String] {
        var results: [String: String] = [:]
        for line in String(decoding: process.standardError, as: UTF8.self).split(separator: "\n") {
            let prefix = "taken-over: "
            guard line.hasPrefix(prefix), let colon = line.lastIndex(of: ":") else { continue }
            let name = String(line[..<colon].dropFirst(prefix.count))
            let words = line[line.index(after: colon)...].split { " ()".contains($0) }
            results[name] = results[name] ?? words.last.map(String.init)
        }
        return results
    }
}
