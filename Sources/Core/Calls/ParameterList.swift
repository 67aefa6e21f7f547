import JSON

/// The declared parameters of a command.
public final class ParameterList: Sendable, Hashable {
    /// The parameters in their order.
    public let parameters: [Parameter]
    /// The defaults in their places, made once.
    private let defaults: [JSONValue]
    /// What most checks need of each parameter, without texts or lists: it holds no references, so copying is cheap.
    private let outlines: [Outline]
    /// Whether an object at the end may fill a parameter after optional ones that were left out.
    private let mayTrail: Bool

    private struct Outline {
        var kind: Parameter.Kind
        var isOptional: Bool
        /// Whether its kind, its length and its bounds decide.
        var isPlain: Bool
        /// Whether members or items are checked.
        var checksInside: Bool
        var maxLength: Int
        /// Bounds of a number; infinite if there are none.
        var bounds: (Double, Double)

        init(_ parameter: Parameter) {
            kind = parameter.kind
            isOptional = parameter.isOptional
            checksInside = parameter.checksInside
            let isBounded = parameter.minimum != nil || parameter.maximum != nil
            isPlain = !checksInside && parameter.oneOf == nil && (!isBounded || kind == .integer)
            maxLength = parameter.maxLength ?? .max
            bounds = (parameter.minimum ?? -.infinity, parameter.maximum ?? .infinity)
        }

        /// Whether the bytes certainly fit, by a quick check. False means that a full check is needed.
        @inline(__always)
        func surelyFits(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
            guard isPlain else { return false }
            switch kind {
            case .any: return true
            // A character has at least one byte.
            case .string: return bytes.first == UInt8(ascii: "\"") && bytes.count - 2 <= maxLength
            case .object: return bytes.first == UInt8(ascii: "{")
            case .array: return bytes.first == UInt8(ascii: "[")
            case .boolean: return bytes.first == UInt8(ascii: "t") || bytes.first == UInt8(ascii: "f")
            case .integer: return surelyFitsInteger(bytes)
            case .number: return false
            }
        }

        /// Most integers have a few digits and no fraction.
        private func surelyFitsInteger(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
            guard bytes.count <= 15 else { return false }
            let isNegative = bytes.first == UInt8(ascii: "-")
            var number = 0
            for byte in bytes.dropFirst(isNegative ? 1 : 0) {
                let digit = byte &- UInt8(ascii: "0")
                guard digit <= 9 else { return false }
                number = number &* 10 &+ Int(digit)
            }
            let value = Double(isNegative ? -number : number)
            return !bytes.isEmpty && value >= bounds.0 && value <= bounds.1
        }
    }

    /// The list of a command's parameters.
    public init(_ parameters: [Parameter]) {
        self.parameters = parameters
        defaults = parameters.map { $0.defaultValue ?? .null }
        outlines = parameters.map(Outline.init)
        mayTrail = parameters.contains { $0.kind == .object }
    }

    /// Whether both declare the same parameters.
    public static func == (one: ParameterList, other: ParameterList) -> Bool { one.parameters == other.parameters }

    /// Hashes the parameters, consistent with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(parameters) }

    /// An object at the end of what was sent that fills a parameter after optional ones that were left out.
    struct Trailing: Sendable, Hashable {
        var sent: Int
        var parameter: Int
    }

    /// Checks what was sent, without building values. Throws `invalid` with the failing fields.
    func check(_ request: Request) throws(CommandError) -> Trailing? {
        surelyFit(request) ? nil : try checkClosely(request)
    }

    /// Whether each parameter was sent and passes the quick check.
    private func surelyFit(_ request: Request) -> Bool {
        guard request.parameterCount == outlines.count else { return false }
        for index in outlines.indices where !outlines[index].surelyFits(request.parameterBytes(index)) { return false }
        return true
    }

    private func checkClosely(_ request: Request) throws(CommandError) -> Trailing? {
        let count = request.parameterCount
        let trailing = trailing(in: request)
        var problems = FieldProblems()
        for index in outlines.indices {
            if let trailing, trailing.parameter == index {
                check(trailing.sent, of: request, index, &problems)
            } else if index < (trailing?.sent ?? count) {
                check(index, of: request, index, &problems)
            } else if !outlines[index].isOptional {
                let parameter = parameters[index]
                problems.add("/\(index)", expected: "\(parameter.name), \(parameter.expectation)", got: "nothing")
            }
        }
        if trailing == nil, count > parameters.count { checkSurplus(of: request, &problems) }
        guard problems.isEmpty else { throw problems.error }
        return trailing
    }

    private func checkSurplus(of request: Request, _ problems: inout FieldProblems) {
        let count = request.parameterCount
        if let last = parameters.last, last.repeats {
            if last.kind == .any, !last.checksInside { return }
            for index in parameters.count..<count { check(index, of: request, parameters.count - 1, &problems) }
        } else {
            let shown = min(count, parameters.count + FieldProblems.shown)
            for index in parameters.count..<shown {
                problems.add("/\(index)", expected: surplus, got: request.parameter(index).gist)
            }
            problems.add(more: count - shown)
        }
    }

    private func check(
        _ sent: Int,
        of request: Request,
        _ index: Int,
        _ problems: inout FieldProblems
    ) {
        let bytes = request.parameterBytes(sent)
        if outlines[index].surelyFits(bytes) { return }
        checkClosely(bytes, sent, of: request, index, &problems)
    }

    private func checkClosely(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ sent: Int,
        of request: Request,
        _ index: Int,
        _ problems: inout FieldProblems
    ) {
        if outlines[index].isOptional, bytes.first == UInt8(ascii: "n") { return }
        let parameter = parameters[index]
        if !parameter.fits(bytes) {
            // Who takes the parameters for one list.
            let isList = bytes.first == UInt8(ascii: "[") && problems.isEmpty
            let hint = isList ? " (give parameters one by one, not in a list)" : ""
            problems.add(
                "/\(sent)",
                expected: "\(parameter.name), \(parameter.expectation)",
                got: request.parameter(sent).gist + hint
            )
        } else if outlines[index].checksInside {
            MemberCheck.check(bytes, parameter, at: "/\(sent)", &problems)
        }
    }

    private var surplus: String {
        switch parameters.count {
        case 0: "nothing (the command takes no parameters)"
        case 1: "nothing (the command takes one parameter)"
        default: "nothing (the command takes at most \(parameters.count) parameters)"
        }
    }

    /// Set if an object at the end fills the last parameter of type object, and optional ones before it were left out.
    private func trailing(in request: Request) -> Trailing? {
        let count = request.parameterCount
        guard mayTrail, count > 0, count < parameters.count,
            request.parameterBytes(count - 1).first == UInt8(ascii: "{"),
            let place = parameters.lastIndex(where: { $0.kind == .object }), place >= count,
            parameters[(count - 1)..<place].allSatisfy({ $0.isOptional && $0.kind != .any })
        else { return nil }
        return Trailing(sent: count - 1, parameter: place)
    }

    /// Which of the sent values is an argument; nil if its default is.
    func place(ofArgument index: Int, in request: Request, _ trailing: Trailing?) -> Int? {
        if let trailing {
            if index == trailing.parameter { return trailing.sent }
            if index >= trailing.sent { return nil }
        }
        guard index < request.parameterCount else { return nil }
        guard let outline = index < outlines.count ? outlines[index] : outlines.last else { return index }
        let isLeftOut = outline.isOptional && outline.kind != .any
        return isLeftOut && request.parameterBytes(index).first == UInt8(ascii: "n") ? nil : index
    }

    func defaultMessage(_ index: Int) -> Message { .value(index < defaults.count ? defaults[index] : .null) }
}
