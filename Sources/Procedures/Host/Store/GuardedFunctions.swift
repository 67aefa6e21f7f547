internal import CSQLite

/// Functions of SQLite of which one call can take hours: their time grows with the product of the lengths of two texts,
/// or with a number in the statement. SQLite looks at no clock within a function, so a call that would take longer than
/// a moment is refused, as is every call after the statement's time.
///
/// Their names are taken on the connection, and calls that are allowed are passed to the functions themselves, on a
/// connection without a file.
final class GuardedFunctions {
    /// What a call costs.
    private enum Cost {
        /// The first text is looked through for the second one.
        case search
        /// The same, with a look at each character of the second one.
        case characters
        /// A format, which may repeat a character.
        case format

        /// The highest product of both lengths; some tenths of a second.
        var limit: Int { self == .search ? 4 << 30 : 100 << 20 }
    }

    private static let all: [(name: String, count: Int32, cost: Cost)] = [
        ("instr", 2, .search), ("replace", 3, .search), ("json_patch", 2, .search), ("trim", 2, .characters),
        ("ltrim", 2, .characters), ("rtrim", 2, .characters), ("printf", -1, .format), ("format", -1, .format),
    ]

    /// The longest result of a function.
    private let maximumBytes: Int
    private let plain: Database
    private var functions: [Function] = []
    /// When the running statement must end.
    var end: ContinuousClock.Instant?

    /// What SQLite passes to a call.
    private final class Function {
        let name: String
        let cost: Cost
        unowned let guarded: GuardedFunctions

        init(_ name: String, _ cost: Cost, _ guarded: GuardedFunctions) {
            (self.name, self.cost, self.guarded) = (name, cost, guarded)
        }
    }

    init(on database: Database, maximumBytes: Int) throws(StoreError) {
        self.maximumBytes = maximumBytes
        plain = try Database(":memory:", .readWrite)
        sqlite3_limit(plain.handle, SQLITE_LIMIT_LENGTH, Int32(maximumBytes))
        for (name, count, cost) in Self.all {
            let function = Function(name, cost, self)
            functions.append(function)
            let code = sqlite3_create_function_v2(
                database.handle,
                name,
                count,
                SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS | Self.resultSubtype,
                Unmanaged.passUnretained(function).toOpaque(),
                { context, count, values in
                    guard let context, let box = sqlite3_user_data(context) else { return }
                    let function = Unmanaged<Function>.fromOpaque(box).takeUnretainedValue()
                    let values = UnsafeBufferPointer(start: values, count: Int(count)).map { $0 }
                    function.guarded.call(function, context, values)
                },
                nil,
                nil,
                nil
            )
            try database.check(code, name)
        }
    }

    /// `SQLITE_RESULT_SUBTYPE`, without which SQLite 3.45 may refuse that a function says its result is JSON. Older ones take no
    /// notice of it, and have no name for it.
    private static let resultSubtype: Int32 = 0x0100_0000

    private func call(_ function: Function, _ context: OpaquePointer, _ values: [OpaquePointer?]) {
        if let end, end <= .now { return sqlite3_result_error_code(context, SQLITE_INTERRUPT) }
        guard isCheap(function.cost, values) else { return sqlite3_result_error_toobig(context) }
        do throws(StoreError) {
            let marks = values.map { _ in "?" }.joined(separator: ",")
            let statement = try plain.statement("SELECT \(function.name)(\(marks))")
            defer { statement.reset() }
            try statement.pass(values, to: context)
            // The result is JSON for the functions around it.
            if function.name == "json_patch" { sqlite3_result_subtype(context, UInt32(UInt8(ascii: "J"))) }
        } catch {
            switch error.kind {
            case .tooLarge: sqlite3_result_error_toobig(context)
            default: sqlite3_result_error(context, error.description, -1)
            }
        }
    }

    private func isCheap(_ cost: Cost, _ values: [OpaquePointer?]) -> Bool {
        guard cost == .format else {
            let lengths = values.prefix(2).map { Int(sqlite3_value_bytes($0)) }
            return lengths.reduce(1, *) <= cost.limit
        }
        guard let format = values.first, let text = sqlite3_value_text(format) else { return true }
        // A number among the values may stand for any '*'.
        let numbers = values.dropFirst().map { sqlite3_value_int64($0).magnitude }
        let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(format)))
        return Self.repetitions(of: bytes, star: Int(clamping: numbers.max() ?? 0)) <= maximumBytes
    }

    /// How often a format repeats characters at most: the sum of the precisions of its `%c`.
    /// - Parameter star: the highest number that `*` may stand for.
    static func repetitions(of format: UnsafeBufferPointer<UInt8>, star: Int) -> Int {
        let most = Int(Int32.max)
        var total = 0
        var rest = format[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "%")) {
            rest = rest[(start + 1)...]
            var precision: Int?
            loop: while let byte = rest.first {
                switch byte {
                case UInt8(ascii: "."): precision = 0
                case UInt8(ascii: "*"): if precision != nil { precision = min(star, most) }
                case UInt8(ascii: "0")...UInt8(ascii: "9"):
                    precision = precision.map { min($0 * 10 + Int(byte - UInt8(ascii: "0")), most) }
                case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: " "), UInt8(ascii: "#"), UInt8(ascii: "!"),
                    UInt8(ascii: ","), UInt8(ascii: "l"):
                    break
                default:
                    if byte == UInt8(ascii: "c") { total += precision ?? 1 }
                    rest = rest.dropFirst()
                    break loop
                }
                rest = rest.dropFirst()
            }
        }
        return total
    }
}
