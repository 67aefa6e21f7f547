import JSON
import Linux

/// The last discovery message sent, stored over restarts: `{"topic": …, "components": {id: platform}}`.
struct DiscoveryRecord: Sendable, Equatable {
    var topic: String
    var platforms: [String: String]

    private static let maxBytes = 1 << 20

    init(topic: String, _ components: [Component]) {
        self.topic = topic
        platforms = Dictionary(components.map { ($0.id, $0.platform) }) { _, last in last }
    }

    /// Nil if there is none that can be read.
    init?(path: String) {
        guard case .success(let text) = FileText.exact(path, maximumBytes: Self.maxBytes),
            let members = (try? JSONParser.parse(text))?.objectValue, let topic = members["topic"]?.stringValue
        else { return nil }
        self.topic = topic
        platforms = [:]
        for (id, platform) in members["components"]?.objectValue ?? [:] { platforms[id] = platform.stringValue }
    }

    func write(to path: String) throws(SystemCallError) {
        let sorted = platforms.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
        let json: JSONValue = ["topic": .string(topic), "components": .object(JSONObject(sorted))]
        try FileText.replace(path, with: "\(json.text)\n")
    }
}
