internal import JSON
internal import JavaScriptCore
internal import QuickConnect

/// Why a request of a procedure failed: in JavaScript an `Error` with the member `code`.
struct ProcedureFailure: JSErrorConvertible, CustomStringConvertible {
    var code: CommandError.Code
    var description: String

    init(_ code: CommandError.Code, _ description: String) {
        self.code = code
        self.description = description
    }

    init(_ error: StoreError) {
        self.init(Self.code(error.kind), error.description)
    }

    private static func code(_ kind: StoreError.Kind) -> CommandError.Code {
        switch kind {
        case .invalid: .scriptFailed
        case .tooLarge: .tooLarge
        case .timeout: .timeout
        case .busy, .conflict: .busy
        case .full, .readOnly, .damaged, .newer, .unavailable: .unavailable
        }
    }

    func jsError(in context: JSContext) -> JSValue {
        guard let error = JSValue(newErrorFromMessage: description, in: context) else {
            return JSValue(undefinedIn: context)
        }
        error.setObject(code.rawValue, forKeyedSubscript: "code")
        return error
    }
}
