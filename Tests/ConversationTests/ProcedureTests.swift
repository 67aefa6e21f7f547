import Foundation
import JSON
import Linux
import QuickConnect
import TestRig
import Testing

/// Stored procedures through the real service and the real daemon.
@Suite("Stored procedures")
struct ProcedureTests {
    /// A daemon, the service, and a client.
    static func start(
        _ procedures: [String: String] = [:],
        settings: String = "{}",
        folder: TestFolder? = nil
    ) async throws -> (daemon: DaemonProcess, service: ScriptProcess, client: SocketClient) {
        let daemon = try await DaemonProcess()
        let service = try ScriptProcess.procedures(procedures, daemon: daemon, settings: settings, folder: folder)
        let client = try daemon.connect()
        try await client.awaitCommand("data")
        return (daemon, service, client)
    }

    /// As the article prints it.
    static let printed = """
        function execute(start, end, callback) {

        var context = Context.context();

        var entries = context.queryEntriesBetweenDateStartEnd(start, end);

        callback(entries.length > 0);

        }
        """

    static let save = "function execute(kind, callback) { callback(Context.context().save({kind, data: {a: 1}})) }"
    static let count = "function execute(kind, callback) { callback(Context.context().count({kind})) }"

    @Test func `the printed procedure, unchanged, says the same by the command, the client and Node`() async throws {
        let (daemon, service, client) = try await Self.start(
            ["printed": Self.printed],
            settings: "record: [{event: walk}]"
        )
        let days: [(String, String, String)] = [
            ("2000-01-01T00:00:00Z", "2001-01-01T00:00:00Z", "false"),
            ("2001-01-01", "9999-12-31T23:59:59+00:00", "true"),
        ]
        try await eventually("walk is recorded") {
            _ = try await client.value("post", ["walk", ["steps": 1]])
            return try await client.value("data", ["info"]).objectValue?["entries"]?.integerValue ?? 0 > 0
        }
        #expect(try await daemon.client("data", "export", service.folder("entries.jsonl")).exit == .status(0))
        for (start, end, answer) in days {
            #expect(try await client.value("execute", ["printed", .string(start), .string(end)]).text == answer)
            #expect(try await daemon.client("procedure", "run", "printed", start, end).output == "\(answer)\n")
            let node = try await ChildProcess.run(
                "node",
                [
                    Products.root + "/clients/procedures/procedure.js", service.folder("procedures/printed.js"),
                    service.folder("entries.jsonl"), start, end,
                ]
            )
            #expect(node.output == "\(answer)\n", "\(node)")
        }
        #expect(
            try String(contentsOfFile: Products.root + "/procedures/hasEntries.js", encoding: .utf8) == Self.printed
                + "\n"
        )
    }

    @Test(arguments: [
        ("callback(1); callback(2)", "1"), ("callback()", "null"), ("return 3", "3"),
        ("return Promise.resolve(4)", "4"),
        ("Promise.resolve().then(() => callback(5))", "5"),
        ("try { null.x } catch (e) { callback(e.name) }", "\"TypeError\""),
        ("callback(6); return 7", "6"), ("return new Promise(done => Promise.resolve().then(() => done(8)))", "8"),
        ("callback({a: [undefined, NaN, new Date(0)]})", #"{"a":[null,null,"1970-01-01T00:00:00.000Z"]}"#),
        (
            "callback([typeof makeCall, typeof setTimeout, typeof require, typeof fetch, typeof WebSocket].join())",
            "\"undefined,undefined,undefined,undefined,undefined\""
        ),
        (
            "callback(Object.getOwnPropertyNames(Object.getPrototypeOf(Context.context())).sort().join())",
            "\"constructor,count,delete,query,queryEntriesBetweenDateStartEnd,save,sql,update\""
        ),
    ])
    func `a procedure answers by its callback, its promise or its value`(body: String, answer: String) async throws {
        let (daemon, service, client) = try await Self.start(["p": "function execute(callback) { \(body) }"])
        defer { withExtendedLifetime((daemon, service)) {} }
        #expect(try await client.value("execute", ["p"]).text == answer)
    }

    @Test func `the callback is in its place where arguments are left out, here and in Node`() async throws {
        let text = """
            function execute(day /* a day? */, room /* a room? */, callback) { callback([day ?? null, room ?? null]) }
            """
        let (daemon, service, client) = try await Self.start(["left": text])
        defer { withExtendedLifetime(daemon) {} }
        try "".write(toFile: service.folder("none.jsonl"), atomically: true, encoding: .utf8)
        for (given, answer) in [([], "[null,null]"), (["a"], #"["a",null]"#), (["a", "b"], #"["a","b"]"#)] {
            let words: [JSONValue] = given.map { .string($0) }
            #expect(try await client.value("execute", .array(["left"] + words)).text == answer)
            let program = [Products.root + "/clients/procedures/procedure.js", service.folder("procedures/left.js")]
            let node = try await ChildProcess.run("node", program + [service.folder("none.jsonl")] + given)
            #expect(node.output == "\(answer)\n", "\(node)")
        }
    }

    @Test func `settings that the service has not taken up are told until it is started again`() async throws {
        let (daemon, service, client) = try await Self.start(["p": "function execute(c) { c(1) }"])
        defer { withExtendedLifetime(service) {} }
        func restart() async throws -> JSONValue? {
            try await client.value("procedures", ["list"]).objectValue?["recording"]?.objectValue?["restart"]
        }
        #expect(try await restart() == nil)
        try service.folder.write("record: [{event: walk}]\npcm: other", to: "settings.yaml")
        #expect(try await restart() == ["record"])
        let list = try await daemon.client("procedure", "list").output
        let fix = ServiceManager.restart("quickconnect-data").map { "; \($0)" } ?? ""
        #expect(list.contains("started: record\(fix)\n"), "\(list)")
        let doctor = try await daemon.client("doctor").output
        #expect(
            doctor.contains("the settings have changed since the service of procedures was started: record"),
            "\(doctor)"
        )
        // With a mistake, nothing is known.
        try service.folder.write("record: 7", to: "settings.yaml")
        #expect(try await restart() == nil)
    }

    @Test func `an error tells its place, is logged as in the article, and undoes what was saved`() async throws {
        let (daemon, service, client) = try await Self.start([
            "thrown": "function execute(callback) {\n  Context.context().save({kind: 'x'})\n  callback(1)\n  null.x\n}",
            "rejected":
                "async function execute(callback) {\n  Context.context().save({kind: 'x'})\n  await 0\n  throw new Error('no')\n}",
            "own": "function execute(callback) { throw Object.assign(new Error('no such room'), {code: 'notFound'}) }",
            "syntax": "function execute(callback) {\n  var x = ;\n}", "never": "function execute() {}",
            "evaluated": "function execute(callback) {\n  eval('var x = ;')\n}", "missing": "var x = 1",
            "circle": "function execute(c) { const a = []; a.push(a); c(a) }",
            "large": "function execute(c) { c('x'.repeat(4e6)) }", "count": Self.count,
            "long": "function execute(c) { throw new Error('x'.repeat(1e6) + '\\n') }",
            "silent":
                "function execute(c) { Object.defineProperty(globalThis, 'execute', {get() { throw 1 }}); throw {get message() { throw 2 }} }",
        ])
        defer { withExtendedLifetime(daemon) {} }
        let thrown = try await client.failure("execute", ["thrown"])
        #expect(thrown["code"] == "scriptFailed" && thrown["line"] == 4 && thrown["column"] != nil)
        #expect(thrown["file"] == .string(service.folder("procedures/thrown.js")) && thrown["source"] == "  null.x")
        #expect(service.errors.contains("JS Error: TypeError: null is not an object"))
        #expect(service.errors.contains("in method execute@\(service.folder("procedures/thrown.js")):4"))
        #expect(service.errors.contains(" line number 4"))
        #expect(try await client.failure("execute", ["rejected"])["line"] == 4)
        #expect(try await client.value("execute", ["count", "x"]) == 0)
        #expect(try await client.failure("execute", ["own"])["code"] == "notFound")
        for syntax in [
            try await client.failure("execute", ["syntax"]),
            try await client.failure("procedures", ["check", "syntax"]),
            try await client.failure("procedures", ["check", "text", "function execute(callback) {\n  var x = ;\n}"]),
        ] {
            #expect(syntax["line"] == 2 && syntax["column"] == 11 && syntax["source"] == "  var x = ;", "\(syntax)")
        }
        let evaluated = try await client.failure("execute", ["evaluated"])
        #expect(evaluated["code"] == "scriptFailed" && evaluated["message"] != nil, "\(evaluated)")
        #expect(try await client.failure("execute", ["never"])["code"] == "timeout")
        #expect(try await client.failure("execute", ["large"])["code"] == "tooLarge")
        #expect(try await client.failure("execute", ["nobody"])["code"] == "notFound")
        #expect(try await client.failure("execute", ["../thrown"])["code"] == "notFound")
        #expect(try await client.failure("execute", ["long"])["message"]?.stringValue?.count ?? 0 < 2000)
        for name in ["missing", "circle", "silent"] {
            #expect(try await client.failure("execute", [.string(name)])["code"] == "scriptFailed", "\(name)")
        }
        #expect(try await daemon.client("procedure", "check", "syntax").exit == .status(1))
        #expect(try await daemon.client("procedure", "check", "thrown").exit == .status(0))
        let missing = "\(service.folder("procedures/missing.js")) has no function execute"
        let checked = try await client.failure("procedures", ["check", "missing"])
        #expect(checked["code"] == "invalid" && checked["message"] == .string(missing), "\(checked)")
        #expect(try await client.failure("execute", ["missing"])["message"] == .string(missing))
        #expect(try await daemon.client("procedure", "check", "missing").exit == .status(1))
        #expect(try await client.value("procedures", ["check", "lib/x", "var x = 1"]) == .null)
        #expect(try await daemon.client("procedure", "show", "thrown").output.contains("null.x"))
        #expect(try await daemon.client("procedure", "list").output.contains("hasEntries"))
    }

    @Test(arguments: [
        ("for (;;) {}", "timeout"), ("return (async () => { for (;;) await 0 })()", "timeout"),
        ("const a = []; for (;;) a.push(new Array(1000).fill(Math.random()))", "scriptFailed"),
        ("Array.from({length: 1e6}, (_, i) => i).sort(() => { for (;;) {} })", "timeout"),
        ("/(a+)+$/.test('a'.repeat(60) + 'b'); for (;;) {}", "timeout"),
        ("return Procedure.call('p')", "scriptFailed"), ("const f = () => f(); f()", "scriptFailed"),
    ])
    func `what takes too long or too much is ended, leaves nothing half written, and the next one runs`(
        body: String,
        code: String
    ) async throws {
        let (daemon, service, client) = try await Self.start(
            [
                "p": "function execute(callback) { Context.context().save({kind: 'x'}); \(body) }", "count": Self.count,
            ],
            settings: "procedures: {time: \(code == "timeout" ? 3 : 60)s, parallel: 1}"
        )
        defer { withExtendedLifetime((daemon, service)) {} }
        #expect(try await client.failure("execute", ["p"])["code"]?.stringValue == code)
        #expect(try await client.value("execute", ["count", "x"]) == 0)
    }

    @Test func `a process that is killed in the middle of a call leaves nothing half written`() async throws {
        let (daemon, service, client) = try await Self.start([
            "p":
                "function execute(c) { const d = Context.context(); for (let i = 0; i < 10; i++) d.save({kind: 'x'}); console.log('saved'); for (;;) {} }",
            "count": Self.count,
        ])
        defer { withExtendedLifetime(daemon) {} }
        for _ in 0..<3 {
            let seen = service.errors.count
            client.send("call?cmd=execute&msg=p&id=1")
            try await eventually("it has saved") { service.errors.dropFirst(seen).contains("saved") }
            for child in Self.children(of: service.process.pid) { kill(child, SIGKILL) }
            #expect(try await client.nextReply()?.code == "scriptFailed")
            #expect(try await client.value("execute", ["count", "x"]) == 0)
        }
    }

    /// The processes that another one has started.
    static func children(of parent: pid_t) -> [pid_t] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(parent)/task")) ?? []
        return tasks.flatMap { task in
            let text = (try? String(contentsOfFile: "/proc/\(parent)/task/\(task)/children", encoding: .utf8)) ?? ""
            return text.split(separator: " ").compactMap { pid_t($0) }
        }
    }

    @Test func `a call ends with its caller, or when it is cancelled`() async throws {
        let (daemon, service, client) = try await Self.start(["p": "function execute() { for (;;) {} }"])
        defer { withExtendedLifetime((daemon, service)) {} }
        func isRunning() async throws -> Bool {
            try await client.value("procedures", ["list"]).objectValue?["running"] != 0
        }
        let other = try daemon.connect()
        other.send("call?cmd=execute&msg=p&id=1")
        try await eventually("it runs") { try await isRunning() }
        other.close()
        try await eventually("it has ended") { try await !isRunning() }
        client.send("call?cmd=execute&msg=p&id=2")
        try await eventually("it runs") { try await isRunning() }
        client.send("call?cmd=cancel&msg=2")
        #expect(try await client.nextReply()?.code == "cancelled")
        try await eventually("it has ended") { try await !isRunning() }
    }

    @Test func `nothing that is given is SQL, and what is no date is an error`() async throws {
        let (daemon, service, client) = try await Self.start([
            "save": Self.save, "count": Self.count, "printed": Self.printed,
            "all": """
            function execute(what, callback) {
                const c = Context.context(), evil = what
                callback([c.query({where: {source: evil}}).length, (() => { try { return c.count({where: {['data.' + evil]: evil}}) } catch { return 0 } })(),
                    c.sql('SELECT * FROM entries WHERE kind = ?', [evil]).length, c.count({kind: evil})])
            }
            """,
            "sql": "function execute(text, callback) { callback(Context.context().sql(text)) }",
        ])
        defer { withExtendedLifetime((daemon, service)) {} }
        #expect(try await client.value("execute", ["save", "x"]) == 1)
        for evil in [
            "' OR '1'='1", "\"; DROP TABLE entries; --", "x') UNION SELECT 1 --", "%", "\u{0}", "$", "[0]", "..",
        ] {
            #expect(try await client.value("execute", ["all", .string(evil)]) == [0, 0, 0, 0], "\(evil)")
            #expect(
                try await client.failure("execute", ["printed", .string(evil), "2026-01-01"])["code"] == "scriptFailed"
            )
            #expect(
                try await client.failure("execute", ["printed", "2026-01-01", .string(evil)])["code"] == "scriptFailed"
            )
        }
        for wrong: JSONValue in [nil, 5, true, [], [:], "2026-02-30", "2026-01-01T00:00:00"] {
            #expect(
                try await client.failure("execute", ["printed", wrong, wrong])["code"] == "scriptFailed",
                "\(wrong)"
            )
        }
        for sql in ["DELETE FROM entries", "ATTACH '/tmp/x' AS x", "PRAGMA user_version", "SELECT load_extension('x')"]
        {
            #expect(try await client.failure("execute", ["sql", .string(sql)])["code"] == "scriptFailed", "\(sql)")
        }
        #expect(try await client.value("execute", ["sql", "SELECT count(*) AS n FROM entries"]) == [["n": 1]])
        let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT i FROM n"
        #expect(try await client.failure("execute", ["sql", .string(many)])["code"] == "tooLarge")
    }

    /// What is no JSON would be a missing member, and all entries would be found.
    private static let lost: KeyValuePairs = [
        "count({from: new Date('gone')})": "from is Invalid Date",
        "count({to: NaN})": "to is NaN",
        "query({from: '2026-01-01', to: new Date(NaN)})": "to is Invalid Date",
        "query({from: Infinity})": "from is Infinity",
        "count({kind: Symbol.iterator})": "kind is",
        "query({limit: NaN})": "limit is NaN",
        "query({from: {toJSON: () => null}})": "from is",
        "queryEntriesBetweenDateStartEnd(new Date(NaN), '2027-01-01')": "the start is not a date",
        "queryEntriesBetweenDateStartEnd('2020-01-01', NaN)": "the end is not a date",
        "count({where: {date: {ge: new Date(NaN)}}})": "a date is a text of ISO 8601",
        "save({kind: 'x', date: new Date(NaN)})": "date is Invalid Date",
        "update(1, {date: NaN})": "date is NaN",
    ]

    @Test func `an invalid date or NaN is an error wherever a member may be missing, on the device and under Node`()
        async throws
    {
        var procedures = ["save": Self.save, "count": Self.count]
        for (index, one) in Self.lost.enumerated() {
            procedures["p\(index)"] = "function execute(callback) { callback(Context.context().\(one.key)) }"
        }
        procedures["missing"] = """
            function execute(callback) {
                const context = Context.context()
                callback([context.count({from: undefined, to: null}), context.count(), context.query({limit: null}).length])
            }
            """
        procedures["sql"] = """
            function execute(callback) {
                const rows = value => { try { return Context.context().sql('SELECT ? AS x', [value]).length } catch (e) { return e.message } }
                callback([rows(null), rows(undefined), rows(NaN), rows(new Date(NaN))])
            }
            """
        let (daemon, service, client) = try await Self.start(procedures)
        #expect(try await client.value("execute", ["save", "x"]) == 1)
        for (index, one) in Self.lost.enumerated() {
            let failure = try await client.failure("execute", ["p\(index)"])
            #expect(failure["code"] == "scriptFailed", "\(one.key)")
            #expect(failure["message"]?.stringValue?.contains(one.value) == true, "\(one.key): \(failure)")
        }
        #expect(try await client.value("execute", ["missing"]) == [1, 1, 1])
        #expect(
            try await client.value("execute", ["sql"]) == [
                1, 1, "parameter 1 of sql is NaN: give a value that JSON can express",
                "parameter 1 of sql is Invalid Date: give a value that JSON can express",
            ]
        )
        guard ChildProcess.isInstalled("node") else {
            return try skipRest("node is not installed: sudo apt install nodejs")
        }
        #expect(try await daemon.client("data", "export", service.folder("entries.jsonl")).exit == .status(0))
        func node(_ name: String) async throws -> (exit: ChildProcess.Exit, output: String) {
            let file = service.folder("procedures/\(name).js")
            let words = [Products.root + "/clients/procedures/procedure.js", file, service.folder("entries.jsonl")]
            return try await ChildProcess.run("node", words)
        }
        for (index, one) in Self.lost.enumerated() {
            let done = try await node("p\(index)")
            #expect(done.exit == .status(1) && done.output.isEmpty, "\(one.key): \(done.output)")
        }
        #expect(try await node("missing").output == "[1,1,1]\n")
    }

    @Test(.needs("node", from: "nodejs"), .needs("sqlite3"))
    func `sql says the same under Node as on the device`() async throws {
        let (daemon, service, client) = try await Self.start([
            "save": Self.save,
            "sql": """
            function execute(text, values, callback) {
                const data = Context.context(), id = data.save({kind: 'during the call'})
                const rows = data.sql(text, values)
                data.delete(id)
                callback(rows)
            }
            """,
        ])
        for kind in ["walk", "it's;\n"] { _ = try await client.value("execute", ["save", .string(kind)]) }
        #expect(try await daemon.client("data", "export", service.folder("entries.jsonl")).exit == .status(0))
        let cases: [(String, JSONValue)] = [
            ("SELECT * FROM entries ORDER BY id DESC", []),
            ("SELECT count(*) AS n FROM entries WHERE kind = ?", ["it's;\n"]),
            ("SELECT ?1 AS a, :b AS b, ?1 AS c, 5 / ? AS d; -- ?", ["x'\n.shell ls", 1.5, 2]),
            ("SELECT 1 WHERE 0;;", []),
            ("SELECT json_extract(data, '$.a') + 0.1 + 0.1 AS f, ? AS t, ? AS n FROM entries /* ; */", [true, nil]),
            ("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT i FROM n", []),
            ("SELECT ?", []), ("SELECT 1", [1]), ("SELECT ?", [[1]]), ("SELECT 1; SELECT 2", []), ("", []),
            (" -- none", []),
            ("DELETE FROM entries", []), ("WITH x AS (SELECT 1) DELETE FROM entries", []), ("PRAGMA user_version", []),
            ("ATTACH '/tmp/x' AS x", []), ("SELECT load_extension('x')", []), ("SELECT readfile('/etc/passwd')", []),
            ("SELECT * FROM pragma_table_info('entries')", []), ("SELECT * FROM \"sqlite_schema\"", []),
            ("SELECT * FROM nowhere", []), ("SELECT", []), ("SELECT 'a", []), ("SELECT 1\n.shell echo hi", []),
        ]
        for (sql, values) in cases {
            let reply = try await client.reply("execute", ["sql", .string(sql), values])
            let node = try ChildProcess(
                "node",
                [
                    Products.root + "/clients/procedures/procedure.js", service.folder("procedures/sql.js"),
                    service.folder("entries.jsonl"), JSONValue.string(sql).text, values.text,
                ]
            )
            try await node.wait(within: .seconds(30))
            let errors = String(decoding: node.standardError, as: UTF8.self)
            if let code = reply.code {
                #expect(errors.hasPrefix("\(code): "), "\(sql): \(code), \(errors)")
            } else {
                let value = try? JSONParser.parse(String(decoding: node.standardOutput, as: UTF8.self))
                #expect(value == reply.value, "\(sql): \(errors)")
            }
        }
    }

    @Test func `calls that meet each other's writes are run again, and none is lost`() async throws {
        let (daemon, service, client) = try await Self.start(
            [
                "add": """
                function execute(callback) {
                    const data = Context.context(), [counter] = data.query({kind: 'counter'})
                    if (!counter) data.save({kind: 'counter', data: 1})
                    else data.update(counter.id, {data: counter.data + 1})
                    callback(null)
                }
                """,
                "value": "function execute(c) { c(Context.context().query({kind: 'counter'})[0].data) }",
            ],
            settings: "procedures: {parallel: 4}"
        )
        defer { withExtendedLifetime((daemon, service)) {} }
        for id in 0..<60 { client.send("call?cmd=execute&msg=add&id=\(id)") }
        for _ in 0..<60 { #expect(try await client.nextReply()?.code == nil) }
        #expect(try await client.value("execute", ["value"]) == 60)
    }

    @Test func `the deepest and the longest that may be called comes back`() async throws {
        let (daemon, service, client) = try await Self.start(["same": "function execute(x, c) { c(x) }"])
        defer { withExtendedLifetime((daemon, service)) {} }
        let deep = (0..<500).reduce(JSONValue.integer(1)) { value, _ in .array([value]) }
        #expect(try await client.value("execute", ["same", deep]) == deep)
        let long = JSONValue.string(String(repeating: "ä", count: 500_000))
        #expect(try await client.value("execute", ["same", long]) == long)
        #expect(try await client.value("execute", ["same", "\u{0}\u{2028}\u{1F600}"]) == "\u{0}\u{2028}\u{1F600}")
    }

    @Test func `of more calls than may wait the last are refused, and the others are answered`() async throws {
        let (daemon, service, client) = try await Self.start(["one": "function execute(c) { c(1) }"])
        defer { withExtendedLifetime((daemon, service)) {} }
        for id in 0..<600 { client.send("call?cmd=execute&msg=one&id=\(id)") }
        var codes: [String: Int] = [:]
        for _ in 0..<600 { codes[try await client.nextReply()?.code ?? "", default: 0] += 1 }
        #expect(Set(codes.keys).isSubset(of: ["", "overloaded"]) && codes["", default: 0] >= 256, "\(codes)")
        #expect(try await client.value("execute", ["one"]) == 1)
    }

    @Test func `procedures call each other and load what they share, and a changed file is the next call's`()
        async throws
    {
        let (daemon, service, client) = try await Self.start([
            "outer":
                "load('lib/twice.js'); var own = 1\nfunction execute(x, c) { c([twice(x), Procedure.call('inner', {x}), own]) }",
            "inner": "function execute(x, c) { c([x, typeof own, typeof twice]) }",
            "later": "async function execute(c) { c(await Procedure.call('slow')) }",
            "slow": "async function execute(c) { await 0; return 'slow' }",
        ])
        defer { withExtendedLifetime(daemon) {} }
        try service.folder.write("function twice(x) { return 2 * x }", to: "procedures/lib/twice.js")
        #expect(try await client.value("execute", ["outer", 4]) == [8, [["x": 4], "undefined", "undefined"], 1])
        #expect(try await client.value("execute", ["later"]) == "slow")
        try service.folder.write("function execute(x, c) { c('new') }", to: "procedures/inner.js")
        #expect(try await client.value("execute", ["outer", 4]) == [8, "new", 1])
    }

    @Test(
        "days of the device's zone: the first moments of a day, its name, and the days of sql",
        arguments: [
            ("America/New_York", "2026-11-01", "2026-11-01T04:00:00.000Z", 25),
            ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z", 23),
            ("UTC", "2026-11-21", "2026-11-21T00:00:00.000Z", 24),
        ]
    )
    func localDays(zone: String, day: String, start: String, hours: Int64) async throws {
        let procedure = """
            load('lib/time.js')
            function execute(day, callback) {
              const { start, end } = dayOf(day), context = Context.context()
              for (const moment of [+start - 1, +start, end - 1, +end]) context.save({ kind: 'm', date: new Date(moment) })
              callback([start, (end - start) / 3600000, nameOfDay(start), +dayOf(start).start === +start, context.count({ kind: 'm', from: start, to: end })])
            }
            """
        let folder = try TestFolder()
        let daemon = try await DaemonProcess()
        let service = try ScriptProcess.procedures(
            ["day": procedure, "sql": Self.daysBySQL],
            daemon: daemon,
            folder: folder,
            environment: ["TZ": zone]
        )
        try FileManager.default.copyItem(
            atPath: Products.root + "/procedures/lib/time.js",
            toPath: folder("procedures/lib/time.js")
        )
        defer { withExtendedLifetime(service) {} }
        let client = try daemon.connect()
        try await client.awaitCommand("data")
        let told = try await client.value("execute", ["day", .string(day)])
        #expect(told == [.string(start), .integer(hours), .string(day), true, 2], "\(told.text)")
        #expect(try await client.value("execute", ["sql", .string(day)]) == 2)
        for wrong in ["2026-02-30", "2026-13-01", "soon"] {
            #expect(try await client.failure("execute", ["day", .string(wrong)])["code"] == "invalid", "\(wrong)")
        }
    }

    private static let daysBySQL = """
        function execute(day, callback) {
          const [row] = Context.context().sql("SELECT count(*) AS n FROM entries WHERE date(date, 'localtime') = ?", [day])
          callback(row.n)
        }
        """

    @Test func `the shipped procedures pass their own tests, and a wrong one does not`() async throws {
        let names = ["hasEntries", "distanceToday", "minutesADay", "callsByCommand"]
        let environment = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "TZ": "UTC"]
        let result = try await ChildProcess.run(
            Products.path("quickconnect"),
            ["procedure", "test"] + names.map { "\(Products.root)/procedures/\($0).js" },
            environment: environment
        )
        #expect(result.exit == .status(0), "\(result.output)")
        let folder = try TestFolder()
        try folder.write("function execute(c) { c(1) }", to: "p.js")
        for fixture in [
            #"{"arguments": [], "expected": 2}"#, #"{"arguments": [], "error": "invalid"}"#, "{}", "[",
            #"{"colour": 1}"#,
        ] {
            try folder.write(fixture, to: "p.test.json")
            let result = try await ChildProcess.run(
                Products.path("quickconnect"),
                ["procedure", "test", folder("p.js")],
                environment: environment
            )
            #expect(result.exit == .status(1) && result.output.hasPrefix("FAIL"), "\(fixture): \(result.output)")
        }
        // A mistake of the procedure is told once.
        try folder.write("function execute(c) { d(1) }", to: "p.js")
        try folder.write(#"{"arguments": [], "expected": 1}"#, to: "p.test.json")
        let words = ["procedure", "test", folder("p.js")]
        let child = try ChildProcess(Products.path("quickconnect"), words, environment: environment)
        #expect(try await child.wait() == .status(1) && child.standardError.isEmpty)
        #expect(String(decoding: child.standardOutput, as: UTF8.self).contains("scriptFailed: ReferenceError"))
    }
}
