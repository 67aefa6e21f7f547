internal import JSON
internal import JavaScriptCore
internal import QuickConnect

/// Why a procedure, or a request of one, failed: in JavaScript an `Error` with the member `code`.
struct ProcedureError: JSErrorConvertible {
    var code: CommandError.Code
    var message: String
    /// `file`, `line`, `column`, `stack`, `source`, as far as known, if a procedure's text caused it.
    var place: JSONObject = [:]

    init(_ code: CommandError.Code, _ message: String, _ place: JSONObject = [:]) {
        self.code = code
        self.message = message
        self.place = place
    }

    /// What a procedure asks the data for is its own text, and not its caller's.
    init(_ error: StoreError) {
        self.init(error.kind == .invalid ? .scriptFailed : error.code, error.description)
    }

    /// The error of a procedure that took too long.
    static func late(_ name: String, _ seconds: Double, _ backtrace: [String] = []) -> ProcedureError {
        var place: JSONObject = [:]
        if !backtrace.isEmpty { place["stack"] = .string(backtrace.joined(separator: "\n")) }
        return ProcedureError(
            .timeout,
            "\(name) has no answer within \(JSONValue.number(seconds).text) s (procedures: time)",
            place
        )
    }

    var json: JSONObject {
        var members = place
        members["code"] = .string(code.rawValue)
        members["message"] = .string(message)
        return members
    }

    func jsError(in context: JSContext) -> JSValue {
        guard let error = JSValue(newErrorFromMessage: message, in: context) else {
            return JSValue(undefinedIn: context)
        }
        error.setObject(code.rawValue, forKeyedSubscript: "code")
        return error
    }
}
