import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// An error that says which line would allow a call is followed to the letter.
@Suite("The advice of errors")
struct AdviceTests {
    private static let list = "hello"

    private static let own = """
        lamp: {value: {type: boolean, default: false}, allow: {users: [root]}}
        fan: {value: {type: integer, default: 0}, set: {users: [root, "mqtt:a, b"]}, allow: {groups: ["web:home"]}}
        door: {event: {type: string}, post: {users: [root]}}
        bell: {event: {type: string}}
        night: {schedule: {at: "22:00"}, call: [ping], set: {groups: [audio]}}
        greet: {business: ["script:greet"], answeredBy: {users: [root]}}
        "a: b": {business: ["script:odd"], allow: {users: [root]}, answeredBy: {users: [root]}}
        """

    /// A daemon with all shipped mappings and a few, in a folder that the test writes to, and what `--check` says of them.
    private final class Device {
        let folder: TestFolder
        let daemon: DaemonProcess
        private var lines = 0

        init() async throws {
            folder = try TestFolder()
            try FileManager.default.copyItem(atPath: Products.root + "/mappings", toPath: folder("mappings"))
            try folder.write(AdviceTests.own, to: "mappings/own.yaml")
            daemon = try await DaemonProcess(
                settings: Self.settings([AdviceTests.list], folder),
                mappings: folder("mappings")
            )
        }

        static func settings(_ commands: [String], _ folder: TestFolder) -> String {
            """
            sockets: [{path: \(folder("web")), gateway: web, user: \(NSUserName()), connections: 100, commands: [\(commands.joined(separator: ", "))]}]
            handlerCommands: {users: [root]}
            """
        }

        /// Writes what errors say, as an owner does: each line in a file of its own, or in place of a socket's list.
        func follow(_ advice: Set<String>) async throws {
            let lists = advice.filter { $0.hasPrefix("commands: [") }
            if !lists.isEmpty {
                let names = Set(
                    lists.flatMap { $0.dropFirst("commands: [".count).dropLast().components(separatedBy: ", ") }
                )
                try daemon.folder.write(Self.settings(names.sorted(), folder), to: "settings.yaml")
            }
            for line in advice.subtracting(lists) {
                lines += 1
                try folder.write(line + "\n", to: "mappings/zz-\(100 + lines).yaml")
            }
            let checked = try await ChildProcess.run(
                Products.path("quickconnectd"),
                ["--check", "--config", daemon.folder("settings.yaml"), "--mappings", folder("mappings")]
            )
            #expect(checked.exit == .status(0) && !checked.output.contains("warning"), "\(checked.output)")
            let reloaded = try await daemon.client("call", "reload")
            #expect(reloaded.exit == .status(0), "\(reloaded.output)")
        }

        /// A page of ann, who is of the home.
        func page() async throws -> SocketClient {
            let client = try SocketClient(path: folder("web"))
            client.send(#"call?cmd=actFor&msg=["ann",{"groups":["home"]}]&id=1"#)
            #expect(try await client.nextReply()?.code == nil)
            return client
        }
    }

    private static func refusal(_ call: String, _ client: SocketClient) async throws -> JSONObject? {
        client.send("call?\(call)&id=1")
        let reply = try #require(try await client.nextReply())
        return reply.code == "denied" ? reply.value.objectValue : nil
    }

    @Test func `each call, verb, event and handler that is refused with a line is allowed by that line`() async throws {
        let device = try await Device()
        let root = try device.daemon.connect()
        root.send("call?cmd=commands&id=1")
        let commands = try #require(try await root.nextReply()?.value.objectValue).map(\.name)
        #expect(commands.count > 50)
        let questions: [(call: String, name: String)] = [
            ("cmd=subscribe&msg=[\"doorbell\"]", "doorbell"), ("cmd=subscribe&msg=[\"door\"]", "door"),
            ("cmd=post&msg=[\"door\",\"x\"]", "door"), ("cmd=post&msg=[\"bell\",\"x\"]", "bell"),
            ("cmd=post&msg=[\"doorbell\"]", "doorbell"), ("cmd=fan&msg=3", "fan"), ("cmd=lamp&msg=true", "lamp"),
            ("cmd=registerHandler&msg=greet", "greet"), ("cmd=registerHandler&msg=odd", "odd"),
            ("cmd=night&msg=run", "night"),
        ]
        var verbs: Set<String> = []
        // One line may make another one necessary: the socket's list, then the command's rule, then its verb's.
        for round in 1... {
            let page = try await device.page()
            var advice: Set<String> = []
            for (call, name) in questions {
                guard let error = try await Self.refusal(call, page) else { continue }
                advice.insert(try #require(error["allow"]?.stringValue, "\(name): \(error)"))
                #expect(error["message"]?.stringValue?.contains("«\(error["allow"]?.stringValue ?? "")»") == true)
            }
            for name in commands {
                page.send("call?cmd=can&msg=\(JSONValue.array([.string(name)]).text)&id=1")
                let reply = try #require(try await page.nextReply())
                // Until `can` is on the list.
                let answer = reply.value.objectValue ?? [:]
                if reply.code == "denied" || answer["allowed"] == false {
                    advice.insert(try #require(answer["allow"]?.stringValue, "\(name): \(reply.value.text)"))
                }
                for (verb, may) in answer["verbs"]?.objectValue ?? [:] where may == false {
                    let call = "cmd=can&msg=\(JSONValue.array([.string(name), ["verb": .string(verb)]]).text)"
                    page.send("call?\(call)&id=1")
                    let refused = try await page.nextReply()?.value.objectValue ?? [:]
                    if refused["allowed"] == false, let line = refused["allow"]?.stringValue { advice.insert(line) }
                    verbs.insert("\(name) \(verb)")
                }
            }
            page.close()
            if advice.isEmpty { break }
            guard round < 8 else { return #expect(advice.isEmpty, "still refused") }
            try await device.follow(advice)
        }
        #expect(verbs.count > 10, "\(verbs)")
    }
}
