import JSON

/// Percent-encoding as JavaScript's `encodeURIComponent` and `decodeURIComponent` do it.
public enum PercentEncoding {
    /// What is wrong with an encoded value, as the rest of a sentence: `has the bad escape '%zz'`.
    struct Failure: Error {
        var message: String

        static let nul = Failure(message: "has a NUL")
        static let notText = Failure(message: "is not UTF-8")

        /// - Parameter bytes: the value from the escape on.
        static func badEscape(_ bytes: UnsafeBufferPointer<UInt8>) -> Failure {
            Failure(message: "has the bad escape '\(String(decoding: bytes.prefix(3), as: UTF8.self))'")
        }
    }

    /// The text encoded as a value of a `call?…` line.
    public static func encode(_ text: String) -> String {
        let buffer = OutputBuffer(capacity: text.utf8.count + 16)
        buffer.appendPercentEncoded(text)
        return buffer.text
    }

    /// The decoded text; nil if the bytes have a bad escape or an `&`, or are not valid text. `+` stands for itself.
    static func decode(_ encoded: UnsafeBufferPointer<UInt8>) -> String? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: encoded.count) { text in
            guard let base = text.baseAddress else { return "" }
            var decoder = PercentDecoder(encoded, at: 0, to: base)
            guard let range = decoder.value(), decoder.position == encoded.count else { return nil }
            return String(decoding: text[range], as: UTF8.self)
        }
    }
}

extension OutputBuffer {
    /// Appends a text as `encodeURIComponent` writes it.
    func appendPercentEncoded(_ text: String) {
        var text = text
        text.withUTF8 { appendPercentEncoded($0) }
    }
}
