public import JSON

/// One call as it came: the command, its message, and where its reply belongs.
///
/// It is the bytes that the client sent, decoded and checked, and knows where its parts are in them.
public struct Request: Sendable {
    private let bytes: SharedBytes
    private let commandRange: Range<Int32>
    /// Empty where there is no id.
    private let idRange: Range<Int32>
    private let messageRange: Range<Int32>
    private let items: Slices
    public let form: WireForm
    /// Whether the caller wants a reply that names this call.
    public let hasID: Bool
    /// Whether the id is the same in either form's encoding.
    let idIsPlain: Bool

    /// - Parameters:
    ///   - bytes: hold the command and the id as text, the message as checked JSON.
    ///   - message: where the message is; empty where there is none.
    ///   - items: where its items are, which are the parameters.
    init(
        _ bytes: SharedBytes,
        command: Range<Int>,
        id: Range<Int>?,
        message: Range<Int>,
        items: Slices,
        form: WireForm
    ) {
        self.bytes = bytes
        commandRange = Self.small(command)
        idRange = Self.small(id ?? 0..<0)
        messageRange = Self.small(message)
        self.items = items
        self.form = form
        hasID = id != nil
        idIsPlain = withExtendedLifetime(bytes) { id.map { bytes.slice($0).allSatisfy(URIComponent.keeps) } ?? true }
    }

    private static func small(_ range: Range<Int>) -> Range<Int32> {
        Int32(truncatingIfNeeded: range.lowerBound)..<Int32(truncatingIfNeeded: range.upperBound)
    }

    private static func wide(_ range: Range<Int32>) -> Range<Int> { Int(range.lowerBound)..<Int(range.upperBound) }

    /// About how many bytes of memory it keeps.
    var memory: Int { bytes.count + 8 * items.count }

    // MARK: Command and id

    /// The command's text, of any length: a caller may have made it up.
    public var command: String { bytes.text(Self.wide(commandRange)) }

    /// The command as messages show it: cut, where a caller has made up something long.
    var shownCommand: String {
        // What is long is not made into a text first.
        commandRange.count <= 128
            ? command : bytes.text(Int(commandRange.lowerBound)..<Int(commandRange.lowerBound) + 40) + "…"
    }

    /// Valid while the request lives.
    var commandBytes: UnsafeBufferPointer<UInt8> { bytes.slice(Self.wide(commandRange)) }

    /// What the caller wants echoed: `id` in the URL form, `callbackId` in the bridge form.
    public var id: String? { hasID ? bytes.text(Self.wide(idRange)) : nil }

    /// Valid while the request lives.
    var idBytes: UnsafeBufferPointer<UInt8> { bytes.slice(Self.wide(idRange)) }

    // MARK: Message

    /// What was sent as the message; nil where nothing was.
    public var message: JSONText? {
        messageRange.isEmpty ? nil : JSONText(checked: bytes, Self.wide(messageRange))
    }

    /// How many parameters the message stands for: none for `null`, an array's items, else the value itself.
    public var parameterCount: Int { items.count }

    /// A parameter as it came.
    public func parameter(_ index: Int) -> JSONText { JSONText(checked: bytes, items[index]) }

    /// The bytes of a parameter, valid while the request lives.
    func parameterBytes(_ index: Int) -> UnsafeBufferPointer<UInt8> { bytes.slice(items[index]) }

    /// The parameters as values, built anew.
    public var parameters: [JSONValue] { (0..<items.count).map { parameter($0).value } }

    /// Appends what a handler gets of the call: the message of a bridge caller as it was, or the parameter array of a
    /// URL caller.
    func writeData(to buffer: OutputBuffer) {
        guard let message else {
            if form == .url { buffer.append("[]") } else { buffer.append("null") }
            return
        }
        let isList = form == .bridge || message.kind == .array
        if !isList { buffer.append(UInt8(ascii: "[")) }
        if isList || !message.isNull { buffer.append(message, as: .plain) }
        if !isList { buffer.append(UInt8(ascii: "]")) }
    }
}
