import Foundation
import Linux
import QuickConnect
import TestRig
import Testing

@testable import Configuration

@Suite("The settings of a fleet")
struct MQTTSettingsTests {
    private func load(_ text: String) throws -> Settings {
        let folder = try TestFolder()
        try text.write(toFile: folder("s.yaml"), atomically: true, encoding: .utf8)
        var flags = Settings.Overrides()
        flags[.config] = folder("s.yaml")
        let folders = StandardFolders(isRoot: true, environment: [:], program: "/nowhere/bin/quickconnectd")
        return try Settings.load(flags: flags, environment: [:], folders: folders)
    }

    @Test func `without a broker there is no fleet`() throws { #expect(try load("{}").mqtt == nil) }

    @Test func `all of them are read`() throws {
        let mqtt = try #require(
            try load(
                """
                mqtt:
                  broker: "[2001:db8::1]:8884"
                  tls: {ca: /ca, certificate: /c, key: /k}
                  user: u
                  passwordFile: /p
                  device: kiosk.1
                  groups: [a, b]
                  prefix: site/qc
                  commands: [ping]
                  events: [bell, {event: alarm, qos: 1}]
                  values: [progress]
                  states: [volume, {state: location, every: 5s}, doctor]
                  homeAssistant: {prefix: ha, caller: home, name: Kiosk, buttons: 3}
                  queue: {messages: 5, bytes: 70000}
                  spread: 2s
                  reconnectWithin: 10m
                  session: 2h
                """
            ).mqtt
        )
        #expect(mqtt.host == "2001:db8::1" && mqtt.port == 8884 && mqtt.tls?.certificate == "/c")
        #expect(mqtt.user == "u" && mqtt.passwordFile == "/p" && mqtt.device == "kiosk.1" && mqtt.groups == ["a", "b"])
        #expect(mqtt.prefix == "site/qc" && mqtt.commands == ["ping"] && mqtt.values == ["progress"])
        #expect(mqtt.events.map(\.name) == ["bell", "alarm"] && mqtt.events.map(\.qos) == [0, 1])
        #expect(mqtt.states.map(\.name) == [.volume, .location, .doctor])
        #expect(mqtt.states.map(\.everySeconds) == [nil, 5, 600])
        #expect(mqtt.homeAssistant?.caller == "home" && mqtt.homeAssistant?.buttons == 3)
        #expect(mqtt.queueMessages == 5 && mqtt.queueBytes == 70_000 && mqtt.spreadSeconds == 2)
        #expect(mqtt.reconnectSeconds == 600 && mqtt.sessionSeconds == 7200)
    }

    @Test func `a broker's name is enough`() throws {
        let mqtt = try #require(try load("mqtt: {broker: b.example, tls: true, homeAssistant: true}").mqtt)
        #expect(mqtt.host == "b.example" && mqtt.port == nil && mqtt.tls == .init() && mqtt.homeAssistant == .init())
        let own = try #require(try load("mqtt: {broker: b, values: own}").mqtt)
        #expect(own.publishesOwnValues && own.values.isEmpty && !mqtt.publishesOwnValues)
        #expect(try load("mqtt: {broker: b, values: [own]}").mqtt?.values == ["own"])
        #expect(mqtt.commands == nil && mqtt.events.isEmpty && mqtt.states.isEmpty && mqtt.values.isEmpty)
    }

    @Test(arguments: [
        ("{}", ":1:7: 'mqtt' needs a 'broker'"),
        ("{broker: 'a b'}", ":1:16: 'a b' is not HOST"),
        ("{broker: 'a:0'}", ":1:16: 'a:0' is not HOST"),
        ("{broker: a, devise: b}", ":1:19: unknown key 'devise' in 'mqtt', did you mean 'device'?"),
        ("{broker: a, device: group}", ":1:27: 'device' must be a name"),
        ("{broker: a, device: a/b}", ":1:27: 'device' must be a name"),
        ("{broker: a, groups: [a, a]}", ":1:31: a group 'a' is listed twice"),
        ("{broker: a, groups: [ä]}", ":1:28: 'ä' is not a name of a group"),
        ("{broker: a, port: 1883}", ":1:19: unknown key 'port' in 'mqtt', did you mean 'broker'?"),
        ("{broker: a, homeAssistant: {nam: x}}", ":1:35: unknown key 'nam' in 'homeAssistant', did you mean 'name'?"),
        ("{broker: a, prefix: /qc}", ":1:27: 'prefix' must be a topic"),
        ("{broker: a, prefix: qc/+}", ":1:27: 'prefix' must be a topic"),
        ("{broker: a, tls: {certificate: c}}", ":1:24: a client's certificate needs both"),
        ("{broker: a, commands: [ping, subscribe]}", ":1:36: 'subscribe' holds for a connection"),
        ("{broker: a, commands: ['a/b']}", ":1:30: 'a/b' cannot be part of a topic"),
        ("{broker: a, events: x}", ":1:27: 'events' must be a list"),
        ("{broker: a, events: [location]}", ":1:28: 'location' is a state with an interval"),
        ("{broker: a, events: [{event: x, qos: 2}]}", ":1:44: 'qos' must be a whole number from 0 to 1"),
        ("{broker: a, events: [x, x]}", ":1:31: the event 'x' is listed twice"),
        ("{broker: a, values: [volume]}", ":1:28: the value 'volume' has the topic of a state"),
        ("{broker: a, values: lamp}", ":1:27: 'values' must be a list, such as [a, b], or the word own; got"),
        ("{broker: a, values: ['a/b']}", ":1:28: 'a/b' cannot be part of a topic"),
        ("{broker: a, states: [volum]}", ":1:28: unknown state 'volum', did you mean 'volume'?"),
        ("{broker: a, states: [{state: volume, every: 5s}]}", ":1:28: changes of 'volume' are published"),
        ("{broker: a, states: [doctor, doctor]}", ":1:36: the state 'doctor' is listed twice"),
        ("{broker: a, homeAssistant: {caller: 'a b'}}", ":1:43: 'caller' must be a name"),
        ("{broker: a, queue: {messages: 0}}", ":1:37: 'messages' must be a whole number"),
        ("{broker: a, session: 30d}", ":1:28: 'session' must be from 1s to 7d"),
    ])
    func `a mistake is told where it stands`(text: String, mistake: String) throws {
        do {
            _ = try load("mqtt: \(text)")
            Issue.record("taken: \(text)")
        } catch let error as ConfigurationMistakes {
            #expect(error.description.contains(mistake), "\(error)")
        }
    }
}
