import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// What commands answer is what the shipped mappings declare. Other conversations compare their answers, too
/// (``AnswerCheck``).
@Suite("Declared results")
struct ResultTests {
    /// Calls that a simulated daemon answers without other programs.
    private static let calls: [(command: String, parameters: JSONValue)] = [
        ("ping", []), ("hello", []), ("commands", []), ("explain", ["playSound"]), ("explain", ["innerProgress"]),
        ("explain", ["kiosk"]), ("can", ["reload"]), ("can", ["kiosk"]), ("can", ["reload", "nobody"]), ("reload", []),
        ("subscribe", ["playState"]), ("state", []), ("unsubscribe", []), ("post", ["news", 1]),
        ("registerHandler", ["own"]), ("registerHandler", ["ping"]), ("state", []), ("removeHandler", ["own"]),
        ("cancel", ["none"]), ("doctor", []), ("hardware", []), ("logMessage", ["x"]), ("vibrate", [10]),
        ("vibrate", []), ("loc", []),
        ("location", []), ("location", [["maximumAge": nil]]), ("accel", []), ("nearby", [["timeout": 100]]),
        ("sendPickResults", ["a", 1]), ("simulate", []), ("simulate", ["tilt", ["roll": 1, "pitch": 2]]),
        ("simulate", ["position"]), ("simulate", ["tilt", "default"]), ("sounds", []), ("volume", []), ("volume", [30]),
        ("volume", ["mute"]), ("rec", ["a.wav"]), ("state", []), ("rec", ["a.wav", "stop"]),
        ("rec", ["b.wav", ["limit": 0.2, "wait": true]]), ("media", []), ("media", ["read", "a.wav", 0, 10]),
        ("media", ["read", "a.wav", 0, 10, ["tag": true]]), ("play", ["a.wav"]), ("state", []),
        ("play", ["a.wav", "stop"]),
        ("media", ["write", "c.txt", 0, "YQ==", ["end": true, "shared": true]]), ("media", ["list"]),
        ("media", ["remove", "a.wav"]), ("playSound", [0]), ("stop", []), ("innerProgress", []),
        ("innerProgress", [40]),
    ]

    @Test func `are those of the answers`() async throws {
        let mappings = try TestFolder.mappings(
            "bell: {event: {type: any}, post: {users: [root]}}\nnight: {schedule: {at: '22:00'}}"
        )
        let daemon = try await DaemonProcess(mappings: mappings.path)
        let client = try daemon.connect()
        for (command, parameters) in Self.calls + [("explain", ["bell"]), ("explain", ["night"])] {
            let reply = try await client.reply(command, parameters)
            #expect(reply.code == nil, "\(command) \(parameters.text): \(reply.message)")
            #expect(DeclaredResults.shipped.problem(reply.value, of: command) == nil)
        }
        // Those are left that other programs answer.
        let others = Set(DeclaredResults.shipped.commands).subtracting(Self.calls.map(\.command)).sorted()
        #expect(
            others == [
                "actFor", "action", "data", "execute", "kiosk", "kioskNavigation", "macro", "middleProgress", "mqtt",
                "notify",
                "outerProgress", "procedures", "screen", "screenshot", "scripts", "showDate", "showList", "web",
            ]
        )
    }

    @Test func `are compared with every answer of a conversation`() throws {
        let check = AnswerCheck(.shipped)
        func problem(_ call: String, _ reply: String) -> String? {
            check.note(sent: Array("\(call)\n".utf8))
            return check.problem(of: reply)
        }
        let call = #"{"handlerName":"volume","callbackId":"1"}"#
        #expect(problem(call, #"{"responseId":"1","responseData":{"volume":3,"muted":true}}"#) == nil)
        #expect(problem(call, #"{"responseId":"1","error":{"code":"unavailable"}}"#) == nil)
        let wrong = problem(call, #"{"responseId":"1","responseData":{"volume":300,"mute":true}}"#)
        #expect(wrong?.contains("/volume: expected volume, an integer from 0 to 100; got the number 300") == true)
        #expect(wrong?.contains("/mute: ") == true && wrong?.contains("/muted: ") == true)
        #expect(
            problem("call?cmd=volume&id=a", "handleJSONRequest?cmd=error&msg=%7B%22code%22:%22busy%22%7D&id=a") == nil
        )
        #expect(problem("call?cmd=ping&id=a", "handleJSONRequest?cmd=ping&msg=null&id=a") == nil)
        #expect(problem("call?cmd=ping&id=a", "handleJSONRequest?cmd=ping&msg=1&id=a") != nil)
        #expect(check.problem(of: "handleJSONRequest?cmd=ping&msg=1&id=a") == nil)
    }
}
