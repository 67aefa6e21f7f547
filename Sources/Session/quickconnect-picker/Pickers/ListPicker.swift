import JSON
import QuickConnect
import QuickConnectClient

/// `showList [title, item, …]`: one of several items. Answers the item, and its number from 0.
struct ListPicker: Picker {
    let name = "showList"
    private static let maxItems = 1000

    func dialog(_ parameters: [JSONValue]) throws -> Dialog {
        let texts = try parameters.enumerated().map(Self.text)
        guard let title = texts.first, texts.count > 1, texts.count <= Self.maxItems + 1 else {
            let (expected, got) = ("a title and 1 to \(Self.maxItems) items", "\(max(0, texts.count - 1)) items")
            throw HandlerCall.Failure(.invalid, "expected \(expected); got \(got)", field: "/1")
        }
        let items = Array(texts.dropFirst())
        guard Set(items).count == items.count else {
            throw HandlerCall.Failure(.invalid, "expected items that differ; got one of them twice", field: "/1")
        }
        // The programs print the number, which no item can be mistaken for.
        let rows = items.enumerated().flatMap { ["\($0.offset)", Self.row($0.element)] }
        let words = [
            "--list", "--title=\(title)", "--text=\(title.withoutMarkup)", "--print-column=1", "--separator=",
        ]
        let item = { @Sendable (output: String) in
            Int(output.prefix { $0.isNumber }).flatMap { items.indices.contains($0) ? items[$0] : nil }
        }
        return Dialog(
            ways: [
                Dialog.Way(
                    program: "zenity",
                    arguments: words + ["--column=Number", "--column=Item", "--hide-column=1", "--hide-header"] + rows,
                    text: item
                ),
                Dialog.Way(
                    program: "yad",
                    arguments: words + ["--no-markup", "--column=Number:HD", "--column=Item", "--no-headers"]
                        + rows,
                    text: item
                ),
            ],
            preset: items[0]
        ) { text in
            items.firstIndex(of: text).map { [.string(text), .integer(Int64($0))] }
        }
    }

    /// Must not look like an option, because not all versions of GLib take what follows a `--` literally. The mark in
    /// front is invisible.
    private static func row(_ item: String) -> String { item.hasPrefix("-") ? "\u{200E}\(item)" : item }

    private static func text(_ index: Int, _ value: JSONValue) throws -> String {
        guard let text = value.stringValue, !text.isEmpty, text.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
            throw HandlerCall.Failure(.invalid, "expected a text on one line, not empty", field: "/\(index)")
        }
        return text
    }
}
