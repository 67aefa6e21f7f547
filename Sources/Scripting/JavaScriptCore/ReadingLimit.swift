internal import CJavaScriptCoreShims

/// Limits what nested arrays and dictionaries of known types may read in one go.
enum ReadingLimit {
    /// Reads `count` items of a value. Throws a ``JSConversionError`` if that is too many, or too deep.
    static func reading<Result>(_ count: Int, _ kind: String, _ read: () throws -> Result) throws -> Result {
        let reading = qc_js_begin_reading(count)
        defer { qc_js_end_reading() }
        guard reading.depth <= JSValueReader.maximumDepth else {
            throw JSConversionError(expected: "\(kind) of at most \(JSValueReader.maximumDepth) levels")
        }
        guard reading.items <= JSValueReader.maximumItems else {
            throw JSConversionError(expected: "\(kind) of at most \(JSValueReader.maximumItems) items")
        }
        return try read()
    }
}
