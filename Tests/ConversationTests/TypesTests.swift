import Foundation
import JSON
import TestRig
import Testing

/// What `quickconnect types` prints compiles, and its functions make calls.
@Suite("Typed functions of a device")
struct TypesTests {
    /// Everything that a declaration can have, and names that are none of the languages'.
    private static let mapping = """
        lamp:
          help: "Burns. */ \\"\\"\\" \\\\"
          answers: what was set
          effect: acts
          result:
            type: object
            members:
              level: {type: number, minimum: 0, help: "per cent */"}
              for: {type: object, optional: true, members: {from: {type: string, oneOf: [day, night]}}}
              zones: {type: array, items: {type: object, members: {name: {type: string, optional: true}, on: {type: boolean}}}}
              "odd-name": {type: integer, optional: true}
              any: {type: any, optional: true}
          parameters:
            - {name: level, type: number}
            - {name: class, type: string, optional: true, oneOf: [warm, cold]}
            - {name: "2nd", type: integer, optional: true}
            - name: options
              type: object
              optional: true
              members: {fade: {type: integer, optional: true, help: ms}, import: {type: boolean}, in: {type: array, optional: true, items: {type: integer}}}
          business: ["script:lamp"]
        strings: {help: All of them., effect: acts, result: {type: array, items: {type: any}}, parameters: [{name: first, type: string}, {name: rest, type: integer, repeat: true}], business: ["script:strings"]}
        "no-name": {view: [], parameters: []}
        import: {view: [], parameters: [], result: {type: any, oneOf: [null]}}
        secret: {view: [], allow: {users: []}}
        media2: {business: ["script:strings"], result: {type: any, optional: true, items: {type: string}, members: {a: {type: integer}}}}
        door: {business: ["script:lamp"], parameters: [{name: verb, type: string, oneOf: [open, shut]}, {name: after, type: any, optional: true}], verbs: {open: {users: []}}}
        brightness: {help: How bright., value: {type: number, minimum: 0, maximum: 10, default: 3, clamp: true}}
        scene: {value: {type: object, members: {name: {type: string}, level: {type: integer, optional: true}}}}
        fixed: {value: {type: string, default: a, oneOf: [a, b]}, set: {users: []}}
        bell: {help: Somebody rings., event: {type: object, members: {door: {type: string, oneOf: [front, back]}}, last: true}, post: {users: [root]}}
        passed: {event: {type: integer}}
        "odd-event": {event: {type: any}, post: {users: []}}
        night: {help: Dark at ten., schedule: {at: "22:00"}, call: [brightness, 0], set: {users: []}}
        """

    /// A name that ends texts and comments of all three languages.
    private static let hostile: JSONValue = "a*/\u{2028}\n\"\"\"\\\n    evil();\u{7}\\(evil())//"

    /// A daemon with the shipped commands, those above, and a handler with a hostile name.
    private func daemon() async throws -> (DaemonProcess, TestFolder, SocketClient) {
        let folder = try TestFolder.mappings(Self.mapping)
        let daemon = try await DaemonProcess(mappings: folder.path)
        let client = try daemon.connect()
        #expect(try await client.reply("registerHandler", [Self.hostile]).code == nil)
        return (daemon, folder, client)
    }

    private func types(_ language: String, _ daemon: DaemonProcess) async throws -> String {
        let result = try await daemon.client("types", "--\(language)")
        #expect(result.exit == .status(0))
        return result.output
    }

    private func run(
        _ program: String,
        _ arguments: [String],
        _ environment: [String: String] = [:],
        in folder: TestFolder
    ) async throws -> (exit: ChildProcess.Exit, output: String) {
        var variables = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder.path]
        variables.merge(environment) { _, last in last }
        // With what it says of mistakes.
        let both = ["-c", "exec \"$0\" \"$@\" 2>&1", program] + arguments
        return try await ChildProcess.run("sh", both, environment: variables, within: .seconds(180))
    }

    @Test func `say what the caller may call, with help, choices and effects`() async throws {
        let (daemon, _, client) = try await daemon()
        defer { withExtendedLifetime(client) {} }
        let text = try await types("typescript", daemon)
        for part in [
            "  lamp(level: number, class_?: \"warm\" | \"cold\", parameter2?: number, options?: {",
            "* Plays a system sound by its number",
            "  playSound(sound: unknown): Promise<null>;",
            "  strings(first: string, ...rest: [number, ...Array<number>]): Promise<Array<unknown>>;",
            "  readonly brightness: NumberValue;", "  readonly passed: ReadableEvent<number>;",
            "  readonly night: Schedule;",
            "  readonly bell: DeviceEvent<{\n    door: \"front\" | \"back\";\n  }>;",
            "  readonly \"odd-event\": DeviceEvent<unknown>;",
            "  \"no-name\"(): Promise<unknown>;", "* Effect: acts",
            "    import: boolean;",
            "lamp: (level, class_, parameter2, options) => call(\"lamp\", [level, class_, parameter2, options]),",
        ] { #expect(text.contains(part), "no \(part)") }
        for word in ["subscribe", "registerHandler", "actFor"] { #expect(!text.contains(" \(word)(")) }
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can connect as another user"))
    func `leave out what the caller may not call`() async throws {
        let (daemon, _, client) = try await daemon()
        defer { withExtendedLifetime(client) {} }
        chmod(daemon.folder.path, 0o755)
        chmod(daemon.socket, 0o666)
        let mine = try await types("typescript", daemon)
        #expect(mine.contains(" secret(") && mine.contains(#"verb: "open" | "shut""#) && mine.contains(" fixed: Value"))
        let flags = ["--reuid", "47113", "--regid", "47113", "--clear-groups"]
        let others = try await ChildProcess.run(
            "setpriv",
            flags + [Products.path("quickconnect"), "types", "--typescript"],
            environment: ["PATH": "/usr/bin:/bin", "QUICKCONNECT_SOCKET": daemon.socket]
        ).output
        #expect(!others.contains(" secret(") && !others.contains(" reload("))
        #expect(others.contains(#"verb: "shut","#) && others.contains(" fixed: ReadableValue<"))
        #expect(others.contains(" bell: ReadableEvent<") && others.contains(" night: ReadableSchedule;"))
    }

    @Test(.needs("python3"))
    func `of Python make calls, read answers, and set and follow values`() async throws {
        let (daemon, folder, client) = try await daemon()
        defer { withExtendedLifetime(client) {} }
        try folder.write(try await types("python", daemon), to: "device.py")
        try folder.write(Self.pythonProgram, to: "program.py")
        let paths = ["PYTHONPATH": "\(Products.root)/clients/python", "QUICKCONNECT_SOCKET": daemon.socket]
        let result = try await run("python3", [folder("program.py")], paths, in: folder)
        #expect(result.exit == .status(0) && result.output == "done\n", "\(result)")
    }

    private static let pythonProgram = """
        import threading
        import quickconnect
        from device import Device
        with quickconnect.Client() as client:
            client.handle("lamp", lambda data, call: dict(level=call.parameters[0], zones=[], n=call.parameters))
            client.handle("strings", lambda data, call: call.parameters)
            client.handle("own", lambda data, call: call.parameters)
            device = Device(client)
            assert device.ping() is None and device.hello()["program"] == "quickconnectd"
            assert device.lamp(3)["n"] == [3], device.lamp(3)
            assert device.lamp(3, None, 4)["n"] == [3, None, 4]
            assert device.lamp(3, "warm", None, {"import": True})["n"] == [3, "warm", None, {"import": True}]
            assert device.strings("a", 1, 2) == ["a", 1, 2]
            assert device.import_() is None
            assert isinstance(device.sounds(), list) and device.volume()["volume"] >= 0
            assert device.media() is not None and device.volume(40)["volume"] == 40
            assert device.brightness.get() == 3 and device.brightness.set(40) == 10
            assert device.brightness.add(-3) == 7 and device.brightness.add() == 8 and device.brightness.add(2) == 10
            assert not hasattr(device.scene, "add") and not hasattr(device.fixed, "add")
            heard, seen = threading.Event(), []
            end = device.brightness.on(lambda value: (seen.append(value), heard.set()))
            assert heard.wait(60) and seen == [10], seen
            end()
            assert device.scene.get() is None
            assert device.scene.set({"name": "a"}) == {"name": "a"}
            rung, doors = threading.Event(), []
            end = device.bell.on(lambda data: (doors.append(data["door"]), rung.set()))
            assert device.bell.last() is None
            device.bell.post({"door": "front"})
            assert rung.wait(60) and doors == ["front"], doors
            end()
            assert device.bell.last() == {"door": "front"} and device.passed.last() is None
            assert not hasattr(device.passed, "post")
            state, runs = device.night.get(), threading.Event()
            assert state["next"] % 1000 == 0 and state["last"] is None and state["result"] is None, state
            device.night.on(lambda run: run["missed"] is False and run["planned"] and runs.set())
            assert device.night.run()["result"] == "ok" and runs.wait(60) and device.brightness.get() == 0
            try:
                device.scene.set({"nam": "a"})
                raise AssertionError
            except quickconnect.Error as error:
                assert error.code == "invalid" and "/0/nam" in error.message, error
            print("done")
        """

    @Test(.needs("node", from: "nodejs"))
    func `of TypeScript, without their types, make calls, and set and follow values`() async throws {
        let (daemon, folder, client) = try await daemon()
        defer { withExtendedLifetime(client) {} }
        let text = try await types("typescript", daemon)
        // The function has types only where these are.
        let start = try #require(text.range(of: "export function device"))
        let bare = text[start.lowerBound...].replacing(
            #/: (string|unknown\[\]|Promise<any>|NumberValue<any>|DeviceEvent<any>|Schedule|Words|Device)(?=[,) =])/#,
            with: ""
        )
        try folder.write(String(bare), to: "device.mjs")
        try folder.write(Self.nodeProgram, to: "program.mjs")
        let check = try await run("node", ["--check", folder("device.mjs")], in: folder)
        #expect(check.exit == .status(0), "\(check)")
        let paths = [
            "CLIENT": "\(Products.root)/clients/javascript/quickconnect.js", "QUICKCONNECT_SOCKET": daemon.socket,
        ]
        let result = try await run("node", [folder("program.mjs")], paths, in: folder)
        #expect(result.exit == .status(0) && result.output == "done\n", "\(result)")
    }

    private static let nodeProgram = """
        import assert from 'node:assert';
        import { device as typed } from './device.mjs';
        const { connect } = await import(process.env.CLIENT);
        const client = await connect();
        await client.handle('lamp', (data, call) => ({ level: call.parameters[0], zones: [], n: call.parameters }));
        await client.handle('strings', (data, call) => call.parameters);
        const device = typed(client);
        assert.strictEqual(await device.ping(), null);
        assert.deepStrictEqual((await device.lamp(3)).n, [3]);
        assert.deepStrictEqual((await device.lamp(3, undefined, 4)).n, [3, null, 4]);
        assert.deepStrictEqual(await device.strings('a', 1, 2), ['a', 1, 2]);
        assert.strictEqual(await device['no-name'](), null);
        assert.strictEqual((await device.volume(30)).volume, 30);
        assert.strictEqual(await device.brightness.set(40), 10);
        assert.strictEqual(await device.brightness.add(-1), 9);
        assert.strictEqual(await device.brightness.add(), 10);
        const heard = new Promise((resolve) => device.brightness.on(resolve));
        assert.strictEqual(await heard, 10);
        const rung = new Promise((resolve) => device.bell.on(resolve).then(() => device.bell.post({ door: 'back' })));
        assert.deepStrictEqual(await rung, { door: 'back' });
        assert.deepStrictEqual(await device.bell.last(), { door: 'back' });
        await assert.rejects(device.bell.post({ door: 'side' }), { code: 'invalid' });
        assert.strictEqual((await device.night.get()).last, null);
        const run = new Promise((resolve) => device.night.on(resolve).then(() => device.night.run()));
        assert.strictEqual((await run).missed, false);
        await assert.rejects(device.scene.set({ name: 'a', level: 'x' }), { code: 'invalid' });
        client.close();
        console.log('done');
        """

    @Test(.needs("tsc", from: "node-typescript"))
    func `of TypeScript have no mistakes for tsc`() async throws {
        let (daemon, folder, client) = try await daemon()
        defer { withExtendedLifetime(client) {} }
        try folder.write(try await types("typescript", daemon), to: "device.ts")
        let program = """
            import { device, Words } from './device';
            export async function main(words: Words) {
              const d = device(words);
              const level: number = (await d.lamp(3, 'warm', undefined, { import: true })).level;
              const items: unknown[] = await d.strings('a', 1, 2);
              await d.brightness.set(level + items.length);
              const more: number = await d.brightness.add(1);
              void more;
              // @ts-expect-error no number
              await d.scene.add(1);
              const end = await d.bell.on((data) => { const door: 'front' | 'back' = data.door; void door; });
              await end();
              await d.bell.post({ door: 'front' });
              const next: number | null = (await d.night.run()).next;
              void next;
              // @ts-expect-error nobody may post it
              await d.passed.post(1);
              // @ts-expect-error another door
              await d.bell.post({ door: 'side' });
              // @ts-expect-error a choice that there is not
              await d.lamp(3, 'hot');
              // @ts-expect-error a member that is needed
              await d.lamp(3, 'warm', 1, {});
              // @ts-expect-error no number
              await d.brightness.set('x');
            }
            """
        try folder.write(program, to: "program.ts")
        let flags = ["--strict", "--noEmit", "--target", "es2022", "--module", "es2022", "--moduleResolution", "node"]
        let result = try await run("tsc", flags + [folder("program.ts")], in: folder)
        #expect(result.exit == .status(0), "\(result.output)")
    }

    @Test(.needs("mypy"))
    func `of Python have no mistakes for mypy`() async throws {
        let (daemon, folder, client) = try await daemon()
        defer { withExtendedLifetime(client) {} }
        try folder.write(try await types("python", daemon), to: "device.py")
        let program = """
            import quickconnect
            from device import Device

            def main(client: quickconnect.Client) -> float:
                device = Device(client)
                device.lamp(3, "hot")
                device.brightness.set("x")
                device.brightness.add(1.5)
                device.bell.post({"door": "side"})
                device.bell.on(lambda data: print(data["door"]))
                device.night.on(lambda run: print(run["planned"] + 1))
                print((device.night.run()["next"] or 0) + 1)
                return device.lamp(3, "warm", None, {"import": True})["level"]
            """
        try folder.write(program, to: "program.py")
        let paths = ["MYPYPATH": "\(Products.root)/clients/python:\(folder.path)"]
        let flags = ["--strict", "--follow-imports=silent", "--allow-untyped-calls", "--cache-dir=\(folder("cache"))"]
        let result = try await run("mypy", flags + [folder("program.py"), folder("device.py")], paths, in: folder)
        let mistakes = result.output.split(separator: "\n").filter { $0.contains(": error: ") }
        #expect(mistakes.count == 3 && mistakes.allSatisfy { $0.contains("program.py:") }, "\(result.output)")
    }

    @Test(.enabled(if: ChildProcess.isInstalled("swiftc"), "swiftc is not in PATH: see https://swift.org/install"))
    func `of Swift make calls, and set and post`() async throws {
        let (daemon, folder, client) = try await daemon()
        defer { withExtendedLifetime(client) {} }
        try folder.write(try await types("swift", daemon), to: "TypedDevice.swift")
        try folder.write(Self.swiftProgram, to: "program.swift")
        let build = URL(fileURLWithPath: Products.path("quickconnect")).deletingLastPathComponent()
        let clinux = "-fmodule-map-file=\(build.path)/CLinux.build/module.modulemap"
        let modules = ["-I", "\(build.path)/Modules", "-Xcc", clinux]
        // Of the package's products there are only programs and modules: the client is linked from its objects.
        let objects = try Self.clientModules.flatMap { module in
            let objects = build.appendingPathComponent("\(module).build")
            return try FileManager.default.subpathsOfDirectory(atPath: objects.path).filter { $0.hasSuffix(".o") }
                .map { "\(objects.path)/\($0)" }
        }
        let flags = ["-swift-version", "6", "-warnings-as-errors", "-parse-as-library", "-o", folder("program")]
        let files = [folder("TypedDevice.swift"), folder("program.swift")]
        let compiled = try await run("swiftc", flags + modules + files + objects, in: folder)
        try #require(compiled.exit == .status(0), "\(compiled.output.prefix(3000))")
        let result = try await run(folder("program"), [], ["QUICKCONNECT_SOCKET": daemon.socket], in: folder)
        #expect(result.exit == .status(0) && result.output == "done\n", "\(result)")
    }

    private static let clientModules = [
        "QuickConnectClient", "QuickConnect", "JSON", "Concurrency", "Linux", "CLinux", "Calendar",
        "OrderedCollections", "DequeModule", "HeapModule", "InternalCollectionsUtilities", "ContainersPreview",
    ]

    private static let swiftProgram = """
        import JSON
        import QuickConnectClient

        @main struct Program {
            static func main() async throws {
                let client = DeviceClient()
                let device = TypedDevice(client)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await client.handle("lamp") { ["level": $0.parameters.first ?? .null, "zones": []] }
                    }
                    group.addTask { try await client.handle("strings") { .array($0.parameters) } }
                    // Until their handlers are registered.
                    var (level, strings): (Double?, [JSONValue]?)
                    while level == nil || strings == nil {
                        do {
                            let options = LampOptions(import: true)
                            level = try await device.lamp(3, class: .warm, options: options).level
                            strings = try await device.strings("a", 1, 2)
                        } catch let failure as CallFailure where failure.code == "unavailable" {}
                    }
                    precondition(level == 3 && strings == ["a", 1, 2])
                    try await device.`import`()
                    let most: Double = try await device.brightness.set(40)
                    let less: Double = try await device.brightness.add(-0.5)
                    precondition(most == 10 && less == 9.5)
                    try await device.bell.post(Bell(door: .front))
                    let door = try await device.bell.last()?.door
                    let passed: Int64? = try await device.passed.last()
                    precondition(door == .front && passed == nil)
                    let run = try await device.night.run()
                    let next: Int64? = run.next
                    let dark: Double? = try await device.brightness.get()
                    precondition(run.result == "ok" && next != nil && dark == 0)
                    group.addTask { try await device.night.on { print($0.planned, $0.missed) } }
                    group.addTask { try await device.bell.on { print($0.door) } }
                    let hello = try await device.hello(timeout: .seconds(60))
                    precondition(hello.program == "quickconnectd")
                    group.cancelAll()
                }
                print("done")
            }
        }
        """
}
