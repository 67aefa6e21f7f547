public import JSON

/// A line `handleJSONRequest?cmd=…&msg=…[&id=…]`, parsed by a client.
public struct URLReply: Sendable, Hashable {
    /// The command of the reply.
    public var command: String
    /// The reply's value.
    public var value: JSONValue
    /// The id of the call, if it had one.
    public var id: String?

    /// Nil if the line is not such a reply.
    public init?(_ line: [UInt8]) {
        let prefix = Array("handleJSONRequest?".utf8)
        guard line.starts(with: prefix) else { return nil }
        var fields: [String: String] = [:]
        for pair in line.dropFirst(prefix.count).split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            fields[String(decoding: parts[0], as: UTF8.self)] = Array(parts[1]).withUnsafeBufferPointer {
                PercentEncoding.decode($0)
            }
        }
        guard let command = fields["cmd"], let value = try? JSONParser.parse(fields["msg"] ?? "null") else {
            return nil
        }
        self.command = command
        self.value = value
        id = fields["id"]
    }
}
