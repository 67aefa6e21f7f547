import Foundation
import JSON
import Testing

/// What Home Assistant takes as the discovery of a device: Tests/HomeAssistant/discovery-schema.json, which names its source.
struct HomeAssistantSchema {
    private let json: JSONObject

    init() throws {
        json = try #require(try Self.file("discovery-schema.json").objectValue)
    }

    /// A file beside the test that runs a real Home Assistant.
    static func file(_ name: String) throws -> JSONValue {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try JSONParser.parse(String(contentsOf: tests.appending(path: "HomeAssistant/\(name)"), encoding: .utf8))
    }

    // MARK: A message

    /// What is wrong with a message; empty where nothing is.
    func faults(of message: JSONValue, topic: String) -> [String] {
        var faults: [String] = []
        let place = json["topic"]?.objectValue ?? [:]
        let (prefix, suffix) = (place["prefix"]?.stringValue ?? "", place["suffix"]?.stringValue ?? "")
        let name = topic.dropFirst(prefix.count).dropLast(suffix.count)
        if !topic.hasPrefix(prefix) || !topic.hasSuffix(suffix) || name.isEmpty || !name.utf8.allSatisfy(Self.isWord) {
            faults.append("topic \(topic)")
        }
        guard let members = message.objectValue else { return faults + ["no object"] }
        faults += self.faults(of: members, as: [json["message"]], "message")
        for part in ["device", "origin"] {
            faults += self.faults(of: members[part]?.objectValue ?? [:], as: [json[part]], part)
        }
        let components = members["components"]?.objectValue ?? [:]
        let identifiers = components.compactMap { $0.value.objectValue?["unique_id"]?.stringValue }
        if Set(identifiers).count != identifiers.count { faults.append("a unique_id is there twice") }
        for (id, component) in components {
            if id.isEmpty || !id.utf8.allSatisfy(Self.isWord) { faults.append("component \(id)") }
            faults += self.faults(ofComponent: component.objectValue ?? [:], id)
        }
        return faults
    }

    private func faults(ofComponent members: JSONObject, _ id: String) -> [String] {
        guard let platform = members["platform"]?.stringValue, let schema = json["platforms"]?.objectValue?[platform]
        else {
            return ["\(id): a platform that the schema lacks"]
        }
        // Alone, it takes the component away.
        if members.count == 1 { return [] }
        return faults(of: members, as: [json["component"], schema], id)
            + mismatches(in: members, platform).map { "\(id): \($0)" }
    }

    /// What Home Assistant's own functions refuse of members that are right each.
    private func mismatches(in members: JSONObject, _ platform: String) -> [String] {
        func number(_ name: String, _ absent: Double) -> Double { members[name]?.numberValue ?? absent }
        switch platform {
        case "number":
            return (number("min", 1) > number("max", 100) ? ["min is above max"] : [])
                + (number("step", 1) < 0.001 ? ["step is below 0.001"] : [])
        case "text":
            let isRight = number("min", 0) <= number("max", 255) && number("max", 255) <= 255
            return isRight ? [] : ["min and max of a text"]
        case "device_tracker":
            let isRight = members["state_topic"] != nil || members["json_attributes_topic"] != nil
            return isRight ? [] : ["neither state_topic nor json_attributes_topic"]
        default: return []
        }
    }

    // MARK: Members

    private func faults(of members: JSONObject, as schemas: [JSONValue?], _ what: String) -> [String] {
        func kinds(_ part: String) -> JSONObject {
            schemas.reduce(into: [:]) { $0.merge($1?.objectValue?[part]?.objectValue ?? [:]) }
        }
        let required = kinds("required")
        var allowed = required
        allowed.merge(kinds("optional"))
        let missing = required.names.filter { members[$0] == nil }.map { "\(what): \($0) is missing" }
        return missing
            + members.compactMap { name, value in
                guard let kind = allowed[name] else { return "\(what): \(name) is not allowed" }
                return isRight(value, kind) ? nil : "\(what): \(name) is \(value.text), not \(kind.text)"
            }
    }

    private func isRight(_ value: JSONValue, _ kind: JSONValue) -> Bool {
        if let choices = kind.arrayValue { return choices.contains(value) }
        switch kind.stringValue {
        case "string", "platform": return value.stringValue != nil
        case "stringOrNull": return value.stringValue != nil || value == .null
        case "template": return value.stringValue.map(Self.isTemplate) ?? false
        case "subscribeTopic", "publishTopic": return value.stringValue.map(Self.isTopic) ?? false
        case "boolean": return value.boolValue != nil
        case "number": return value.numberValue != nil
        case "integer": return (value.integerValue ?? -1) >= 0
        case "list": return value.arrayValue.map { !$0.isEmpty } ?? false
        case "anyList": return value.arrayValue != nil
        case "availability":
            let topics = value.arrayValue ?? []
            return !topics.isEmpty
                && topics.allSatisfy { faults(of: $0.objectValue ?? [:], as: [json["availability"]], "").isEmpty }
        case "object": return value.objectValue != nil
        default: return false
        }
    }

    /// Not the whole of its language: that what is opened is closed.
    private static func isTemplate(_ text: String) -> Bool {
        !text.isEmpty
            && [("{{", "}}"), ("{%", "%}")].allSatisfy {
                text.components(separatedBy: $0).count == text.components(separatedBy: $1).count
            }
    }

    /// None of ours has a wildcard, be it to hear or to say something.
    private static func isTopic(_ text: String) -> Bool { !text.isEmpty && !text.contains { "+#\0".contains($0) } }

    private static func isWord(_ byte: UInt8) -> Bool {
        let scalar = Unicode.Scalar(byte)
        return scalar.isASCII
            && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "_-".unicodeScalars.contains(scalar))
    }
}
