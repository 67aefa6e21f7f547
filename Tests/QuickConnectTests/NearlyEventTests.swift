import JSON
import QuickConnect
import Testing

@Suite("Events that nobody declares")
struct NearlyEventTests {
    @Test func `who subscribes to what nobody declares, but nearly, is warned, and subscribed`() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("doorbell") { declaration in
                declaration.phases = [:]
                declaration.answeredBy = nil
                declaration.event = EventDeclaration(Parameter("data", .any))
            }
        }) { daemon in
            let client = daemon.connect()
            func answer(_ name: String) async -> JSONValue? {
                client.send(#"{"handlerName":"subscribe","data":["\#(name)"],"callbackId":"1"}"#)
                return (try? JSONParser.parse(await client.next()))?.objectValue?["responseData"]
            }
            for (name, meant) in [("dorbell", "doorbell"), ("acel", "accel")] {
                let told =
                    "'\(name)' is not an event of this device, did you mean '\(meant)'? "
                    + "Nothing comes unless a program posts it."
                #expect(await answer(name) == ["warning": .string(told)])
                client.send(#"{"handlerName":"post","data":["\#(name)",1]}"#)
                #expect(await client.next() == #"{"handlerName":"\#(name)","data":1}"#)
            }
            // On a list, the slip is named instead of a line that would allow it.
            let place = SourceLocation(file: "quickconnectd.yaml", line: 3, column: 5)
            let rule = SocketRule(
                name: "g",
                commands: ["subscribe", "doorbell", "parcel"],
                connections: 1,
                location: place
            )
            let guest = daemon.connect(uid: 0, rule: rule)
            for (name, meant) in [("dorbell", "doorbell"), ("parcle", "parcel")] {
                guest.send(#"{"handlerName":"subscribe","data":["\#(name)"],"callbackId":"1"}"#)
                let refused = await guest.next()
                let asked = #""message":"the event '\#(name)': nobody declares it, did you mean '\#(meant)'?","#
                #expect(refused.contains(asked) && !refused.contains("allow"), "\(refused)")
            }
            // What is listed is meant.
            guest.send(#"{"handlerName":"subscribe","data":["parcel"],"callbackId":"1"}"#)
            #expect(await guest.next().contains(#""responseData":null"#))
            // Of a command's name nothing is known to be wrong, and 'door' may be anything.
            for name in ["doorbell", "hello", "door"] { #expect(await answer(name) == .null, "\(name)") }
        }
    }
}
