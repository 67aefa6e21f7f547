internal import CJavaScriptCoreShims

/// Limits what nested arrays and dictionaries of known types may read in one go.
enum ReadingLimit {
    /// Reads `count` items of a value. Throws a ``JSConversionError`` if that is too many, or too deep.
    static func reading<Result>(_ count: Int, _ kind: String, _ read: () throws -> Result) throws -> Result {
        let reading = qc_js_begin_reading(count)
        defer { qc_js_end_reading() }
        guard reading.depth <= ValueReader.maximumDepth else {
            throw JSConversionError(expected: "\(kind) of at most \(ValueReader.maximumDepth) levels")
        }
        guard reading.items <= ValueReader.maximumItems else {
            throw JSConversionError(expected: "\(kind) of at most \(ValueReader.maximumItems) items")
        }
        return try read()
    }
}
