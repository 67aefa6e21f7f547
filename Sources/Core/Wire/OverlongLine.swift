internal import JSON

/// What is kept of a line that is longer than the limit: its start and its end, of which one has the id of the call, so that
/// whoever waits for its reply is told.
public struct OverlongLine: Sendable {
    private var start: [UInt8]
    private var end: [UInt8]

    private static let startBytes = 512
    /// An id with escapes, its name and some white space.
    private static let endBytes = 6 * Limits.idBytes + 64

    /// The line, or its first bytes.
    public init(_ bytes: UnsafeBufferPointer<UInt8>) {
        start = Array(bytes.prefix(Self.startBytes))
        end = Array(bytes.suffix(Self.endBytes))
    }

    /// The same.
    public init(_ bytes: [UInt8]) { self = bytes.withUnsafeBufferPointer { OverlongLine($0) } }

    /// The next bytes of the line.
    public mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        end = Array((end + bytes.suffix(Self.endBytes)).suffix(Self.endBytes))
    }

    var form: WireForm { WireForm(firstByte: start.first) }

    /// The `responseId` of an answer, if it is before what is long.
    var responseID: String? { text(of: "responseId") }

    /// The id of a call, if it is before what is long, or the last part of the line.
    package var callID: String? {
        let id = form == .url ? idOfURL : text(of: "callbackId") ?? idAtEnd
        return id.flatMap { $0.utf8.count <= Limits.idBytes ? $0 : nil }
    }

    private func text(of member: StaticString) -> String? {
        start.withUnsafeBufferPointer { BridgeForm.text(of: member, atStartOf: $0) }
    }

    private var idOfURL: String? {
        let fields =
            start.split(separator: UInt8(ascii: "&")).dropLast().map { $0 }
            + end.split(separator: UInt8(ascii: "&")).suffix(1)
        let ids = fields.compactMap { field -> String? in
            let field = field.starts(with: "call?".utf8) ? field.dropFirst(5) : field
            guard field.starts(with: "id=".utf8) else { return nil }
            let text =
                field.dropFirst(3).last == UInt8(ascii: "\r") ? field.dropFirst(3).dropLast() : field.dropFirst(3)
            return Array(text).withUnsafeBufferPointer { PercentEncoding.decode($0) }
        }
        return ids.last
    }

    /// In JSON a quote that ends a string is the last but for the brace: `…,"callbackId":"7"}`.
    private var idAtEnd: String? {
        let name = Array("\"callbackId\"".utf8)
        guard let place = end.indices.last(where: { end[$0...].starts(with: name) }) else { return nil }
        return Array(end[(place + name.count)...]).withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes)
            scanner.skipWhiteSpace()
            guard scanner.skip(UInt8(ascii: ":")), let id = BridgeForm.text(&scanner, bytes) else { return nil }
            scanner.skipWhiteSpace()
            guard scanner.skip(UInt8(ascii: "}")), (try? scanner.finish()) != nil else { return nil }
            return id
        }
    }
}
