extension JSONValue {
    /// The value as compact JSON, cut off somewhere behind that many bytes, without writing what is cut.
    public func text(atMost bytes: Int) -> String {
        var text = ""
        write(to: &text, bytes)
        return text
    }

    private func write(to text: inout String, _ limit: Int) {
        guard text.utf8.count <= limit else { return }
        switch self {
        case .string(let value) where value.utf8.count > limit:
            text += JSONValue.string(String(decoding: value.utf8.prefix(limit), as: UTF8.self)).text
        case .array(let items):
            text += "["
            for (index, item) in items.enumerated() where text.utf8.count <= limit {
                if index > 0 { text += "," }
                item.write(to: &text, limit)
            }
            text += "]"
        case .object(let members):
            text += "{"
            var isFirst = true
            for (name, value) in members where text.utf8.count <= limit {
                if !isFirst { text += "," }
                isFirst = false
                JSONValue.string(name).write(to: &text, limit)
                text += ":"
                value.write(to: &text, limit)
            }
            text += "}"
        default: text += self.text
        }
    }
}
