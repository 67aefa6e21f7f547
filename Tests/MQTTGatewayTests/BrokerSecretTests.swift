import Linux
import MQTT
import TestRig
import Testing

@Suite("The user and the password of a broker")
struct BrokerSecretTests {
    @Test(arguments: [
        "geheim", "geheim\n", "geheim\r\n", "geheim\r", "\u{FEFF}geheim\r\nzweite\r\n", "geheim\nzweite\n",
    ])
    func `are the first line, however it ends`(text: String) throws {
        let folder = try TestFolder()
        try folder.write(text, to: "mqtt.password")
        #expect(try BrokerSecrets.file(folder("mqtt.password")).get() == "geheim")
        let found = BrokerSecrets.credential("mqtt.password", ["CREDENTIALS_DIRECTORY": folder.path])
        #expect(try found.get() == "geheim")
    }

    @Test func `are none where there is no file or no line`() throws {
        let folder = try TestFolder()
        try folder.write("\r\n", to: "mqtt.user")
        for name in ["mqtt.user", "mqtt.password"] {
            #expect(try BrokerSecrets.credential(name, ["CREDENTIALS_DIRECTORY": folder.path]).get() == nil)
        }
        #expect(try BrokerSecrets.credential("mqtt.user", [:]).get() == nil)
        try folder.write("\nann\n", to: "mqtt.user")
        #expect(throws: FileText.Problem.self) {
            try BrokerSecrets.credential("mqtt.user", ["CREDENTIALS_DIRECTORY": folder.path]).get()
        }
    }

    @Test(arguments: [
        ("ge\0heim", "NUL byte in line 1"), ("ge\theim\n", "U+0009"), ("geheim\u{85}", "U+0085"), ("", "first line"),
        ("\ngeheim\n", "first line"), ("\u{FEFF}\r\ngeheim", "first line"),
    ])
    func `have a first line, and no control characters in it`(text: String, problem: String) throws {
        let folder = try TestFolder()
        try folder.write(text, to: "mqtt.password")
        guard case .failure(let found) = BrokerSecrets.file(folder("mqtt.password")) else {
            Issue.record("it was read")
            return
        }
        #expect(found.message.contains(problem), "\(found.message)")
    }
}
