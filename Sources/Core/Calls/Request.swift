public import JSON

/// One call as it was received: the command, its message, and where its reply goes.
///
/// It holds the bytes that the client sent, decoded and checked, and the ranges of its parts. A call holds one
/// reference to it; its reader reuses it once no call holds it any more.
public final class Request: SharedBytes, @unchecked Sendable {
    // Sendable because it changes only while its reader has the only reference, and is constant afterwards. Nobody else
    // can access what changes, and checking that would cost more than the change.
    @exclusivity(unchecked) private var parts = Parts()
    // Separate, so that reading one of the first items copies no counted reference.
    @exclusivity(unchecked) private var items = JSONItems.First()
    @exclusivity(unchecked) private var otherItems: [JSONItems.Place] = []

    /// Where its parts are, and facts about them.
    struct Parts {
        var command = Place()
        /// Empty if there is no id.
        var id = Place()
        /// Empty if there is no message.
        var message = Place()
        var form = WireForm.url
        var hasID = false
        var idIsPlain = true
    }

    /// A range of a line, which has at most 2 GiB.
    struct Place {
        private var start: Int32 = 0
        private var end: Int32 = 0

        init() {}

        init(_ range: Range<Int>) {
            start = Int32(truncatingIfNeeded: range.lowerBound)
            end = Int32(truncatingIfNeeded: range.upperBound)
        }

        var count: Int { Int(end &- start) }
        var range: Range<Int> { Range(uncheckedBounds: (Int(start), Int(end))) }
    }

    /// Room for a call of that many bytes.
    override init(capacity: Int) { super.init(capacity: capacity) }

    /// Empties it, with room for a call of that many bytes.
    func clear(capacity: Int) {
        reset(capacity: capacity)
        items = JSONItems.First()
        if !otherItems.isEmpty { otherItems = [] }
    }

    /// Where the items of the message are, which are the parameters.
    func take(_ items: JSONItems) {
        self.items = items.first
        if !items.others.isEmpty || !otherItems.isEmpty { otherItems = items.others }
    }

    private func place(_ index: Int) -> Range<Int> { index < 4 ? items[index].range : otherItems[index - 4].range }

    /// Makes it this call. Its bytes hold the command and the id as text, the message as checked JSON.
    /// - Parameter message: where the message is; empty if there is none.
    func fill(command: Range<Int>, id: Range<Int>?, message: Range<Int>, form: WireForm) {
        var parts = Parts()
        parts.command = Place(command)
        parts.message = Place(message)
        parts.form = form
        if let id {
            parts.id = Place(id)
            parts.hasID = true
            // Most ids are numbers.
            parts.idIsPlain = slice(id).allSatisfy { $0 &- UInt8(ascii: "0") <= 9 || URIComponent.keeps($0) }
        }
        self.parts = parts
    }

    /// The form in which it came, and in which it is answered.
    public var form: WireForm { parts.form }
    /// Whether the caller wants a reply with this call's id.
    public var hasID: Bool { parts.hasID }
    /// Whether the id is written the same in the encodings of both forms.
    var idIsPlain: Bool { parts.idIsPlain }

    /// About how many bytes of memory it uses.
    var memory: Int { count + 8 * parameterCount }

    // MARK: Command and id

    /// The command's text, of any length: a caller may have made it up.
    public var command: String { text(parts.command.range) }

    /// The command for messages, shortened if a caller has made up a long one.
    var shownCommand: String {
        // A long one is not made into a String first.
        parts.command.count <= 128 ? command : text(parts.command.range.prefix(40)) + "…"
    }

    /// Valid while the request lives.
    var commandBytes: UnsafeBufferPointer<UInt8> { slice(parts.command.range) }

    /// The caller's id, which the reply repeats: `id` in the URL form, `callbackId` in the bridge form.
    public var id: String? { hasID ? text(parts.id.range) : nil }

    /// Valid while the request lives.
    var idBytes: UnsafeBufferPointer<UInt8> { slice(parts.id.range) }

    // MARK: Message

    /// The message; nil if none was sent.
    public var message: JSONText? {
        parts.message.count == 0 ? nil : JSONText(checked: self, parts.message.range)
    }

    /// How many parameters the message has: none for `null`, an array's items, otherwise the value itself.
    public var parameterCount: Int { items.count + otherItems.count }

    /// A parameter as it was received.
    public func parameter(_ index: Int) -> JSONText { JSONText(checked: self, place(index)) }

    /// The bytes of a parameter, valid while the request lives.
    func parameterBytes(_ index: Int) -> UnsafeBufferPointer<UInt8> { slice(place(index)) }

    /// The parameters as values, built at each call.
    public var parameters: [JSONValue] { (0..<parameterCount).map { parameter($0).value } }

    /// Appends the data that a handler gets: a bridge caller's message unchanged, or a URL caller's parameter array.
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
