public import JSON

/// One call as it came: the command, its message, and where its reply belongs.
///
/// It is the bytes that the client sent, decoded and checked, and knows where its parts are in them. A call holds one
/// reference to it, and its reader fills it anew once no call has it any more.
public final class Request: SharedBytes, @unchecked Sendable {
    // Sendable because it changes only while its reader has the only reference, and is constant afterwards: so nobody else
    // can be at what is changed, and to check that would cost more than to change it.
    @exclusivity(unchecked) private var parts = Parts()
    // Apart, so that looking at one of the first copies nothing that is counted.
    @exclusivity(unchecked) private var items = JSONItems.First()
    @exclusivity(unchecked) private var otherItems: [JSONItems.Place] = []

    /// Where its parts are, and what is known of them.
    struct Parts {
        var command = Place()
        /// Empty where there is no id.
        var id = Place()
        /// Empty where there is no message.
        var message = Place()
        var form = WireForm.url
        var hasID = false
        var idIsPlain = true
    }

    /// Bytes of a line, which has at most 2 GiB.
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

    /// Room for a call that has so many bytes.
    override init(capacity: Int) { super.init(capacity: capacity) }

    /// Makes it empty, with room for a call that has so many bytes.
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
    /// - Parameter message: where the message is; empty where there is none.
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

    /// The form that it came in, and that it is answered in.
    public var form: WireForm { parts.form }
    /// Whether the caller wants a reply that names this call.
    public var hasID: Bool { parts.hasID }
    /// Whether the id is the same in either form's encoding.
    var idIsPlain: Bool { parts.idIsPlain }

    /// About how many bytes of memory it keeps.
    var memory: Int { count + 8 * parameterCount }

    // MARK: Command and id

    /// The command's text, of any length: a caller may have made it up.
    public var command: String { text(parts.command.range) }

    /// The command as messages show it: cut, where a caller has made up something long.
    var shownCommand: String {
        // What is long is not made into a text first.
        parts.command.count <= 128 ? command : text(parts.command.range.prefix(40)) + "…"
    }

    /// Valid while the request lives.
    var commandBytes: UnsafeBufferPointer<UInt8> { slice(parts.command.range) }

    /// What the caller wants echoed: `id` in the URL form, `callbackId` in the bridge form.
    public var id: String? { hasID ? text(parts.id.range) : nil }

    /// Valid while the request lives.
    var idBytes: UnsafeBufferPointer<UInt8> { slice(parts.id.range) }

    // MARK: Message

    /// What was sent as the message; nil where nothing was.
    public var message: JSONText? {
        parts.message.count == 0 ? nil : JSONText(checked: self, parts.message.range)
    }

    /// How many parameters the message stands for: none for `null`, an array's items, else the value itself.
    public var parameterCount: Int { items.count + otherItems.count }

    /// A parameter as it came.
    public func parameter(_ index: Int) -> JSONText { JSONText(checked: self, place(index)) }

    /// The bytes of a parameter, valid while the request lives.
    func parameterBytes(_ index: Int) -> UnsafeBufferPointer<UInt8> { slice(place(index)) }

    /// The parameters as values, built anew.
    public var parameters: [JSONValue] { (0..<parameterCount).map { parameter($0).value } }

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
