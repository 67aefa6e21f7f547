import JSON

/// Checks what is inside of an object or an array: the members and items that a mapping declares with a type. It builds
/// no values.
///
/// It looks at each byte once, however deep the declaration is, and at no more than ``most`` members and items: a call
/// must not hold up others.
struct MemberCheck {
    /// The most members and items of one parameter that are examined. One with more is `invalid`.
    static let most = 10_000

    /// One name or number of a path.
    private enum Step {
        /// The text between the quotes of a name.
        case name(Range<Int>)
        case index(Int)
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private let field: String
    private var path: [Step] = []
    private var left = most
    private var problems: FieldProblems

    /// Adds what does not fit inside of a checked text whose own kind fits.
    /// - Parameter field: the JSON pointer of the value.
    static func check(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ parameter: Parameter,
        at field: String,
        _ problems: inout FieldProblems
    ) {
        var check = MemberCheck(bytes: bytes, field: field, problems: problems)
        var scanner = JSONScanner(bytes, maximumDepth: .max)
        // The bytes are checked: only too many members end it early, and that is a problem already.
        try? check.inside(parameter, &scanner)
        problems = check.problems
    }

    /// Whether what is inside of a value fits.
    static func fits(_ value: JSONValue, _ parameter: Parameter) -> Bool {
        var text = value.text
        return text.withUTF8 { bytes in
            var problems = FieldProblems()
            check(bytes, parameter, at: "", &problems)
            return problems.isEmpty
        }
    }

    private mutating func inside(_ declared: Parameter, _ scanner: inout JSONScanner) throws(JSONError) {
        switch JSONKind(firstByte: scanner.next) {
        case .object where declared.checksMembers: try object(declared, &scanner)
        case .array:
            guard let item = declared.items else { return try scanner.skipValue() }
            try array(item, &scanner)
        default: try scanner.skipValue()
        }
    }

    /// A member or an item.
    private mutating func value(
        _ declared: Parameter,
        _ step: Step,
        _ scanner: inout JSONScanner
    ) throws(JSONError) {
        let start = scanner.position
        let isNull = scanner.next == UInt8(ascii: "n")
        if declared.checksInside {
            path.append(step)
            try inside(declared, &scanner)
            path.removeLast()
        } else {
            try scanner.skipValue()
        }
        let value = UnsafeBufferPointer(rebasing: bytes[start..<scanner.position])
        guard !(isNull && declared.isOptional), !declared.fits(value) else { return }
        var found = problems
        found.add(pointer(step), expected: declared.namedExpectation, got: JSONGist.text(checked: value))
        problems = found
    }

    private mutating func array(_ item: Parameter, _ scanner: inout JSONScanner) throws(JSONError) {
        _ = scanner.skip(UInt8(ascii: "["))
        scanner.skipWhiteSpace()
        var index = 0
        while let next = scanner.next, next != UInt8(ascii: "]") {
            try spend(1, scanner)
            try value(item, .index(index), &scanner)
            index += 1
            scanner.skipWhiteSpace()
            guard scanner.skip(UInt8(ascii: ",")) else { break }
            scanner.skipWhiteSpace()
        }
        _ = scanner.skip(UInt8(ascii: "]"))
    }

    private mutating func object(_ declared: Parameter, _ scanner: inout JSONScanner) throws(JSONError) {
        let members = declared.members
        let isClosed = declared.isClosed
        try spend(1 + members.count / 8, scanner)
        var isMissing = members.map { !($0.declared?.isOptional ?? true) }
        try scanner.skipObject { (scanner: inout JSONScanner, name: Range<Int>) throws(JSONError) in
            try spend(1, scanner)
            guard let index = place(of: name, among: members) else {
                if isClosed { addUnknown(name, members) }
                return try scanner.skipValue()
            }
            isMissing[index] = false
            guard let member = members[index].declared else { return try scanner.skipValue() }
            try value(member, .name(name), &scanner)
        }
        for (member, isMissing) in zip(members, isMissing) where isMissing {
            let field = "\(pointer())/\(FieldProblem.pointer(member.name))"
            problems.add(field, expected: member.declared?.namedExpectation ?? member.name, got: "nothing")
        }
    }

    private func place(of name: Range<Int>, among members: [Parameter.Member]) -> Int? {
        let text = UnsafeBufferPointer(rebasing: bytes[name])
        guard text.contains(UInt8(ascii: "\\")) else { return Self.index(of: text, among: members) }
        var unescaped = String(checkedJSON: text)
        return unescaped.withUTF8 { Self.index(of: $0, among: members) }
    }

    private static func index(of name: UnsafeBufferPointer<UInt8>, among members: [Parameter.Member]) -> Int? {
        members.firstIndex { $0.name.utf8.count == name.count && $0.name.utf8.elementsEqual(name) }
    }

    private mutating func addUnknown(_ name: Range<Int>, _ members: [Parameter.Member]) {
        var found = problems
        found.add(
            pointer(.name(name)),
            expected: "one of \(NameList.text(members.map(\.name), bytes: 320))",
            got: "'\(text(name).shortened)'\(NearestNames.question(text(name), among: members.lazy.map(\.name)))"
        )
        problems = found
    }

    /// Ends the check when it has examined enough.
    private mutating func spend(_ amount: Int, _ scanner: JSONScanner) throws(JSONError) {
        left -= amount
        guard left < 0 else { return }
        problems.add(field, expected: "at most \(Self.most) members and items, as many as are checked", got: "more")
        throw scanner.syntax("too many")
    }

    private func text(_ name: Range<Int>) -> String {
        String(checkedJSON: UnsafeBufferPointer(rebasing: bytes[name]))
    }

    private func pointer(_ last: Step? = nil) -> String {
        (path + (last.map { [$0] } ?? [])).reduce(into: field) { pointer, step in
            switch step {
            case .name(let name): pointer += "/\(FieldProblem.pointer(text(name)))"
            case .index(let index): pointer += "/\(index)"
            }
        }
    }
}

extension Parameter {
    /// What a member must be, with its name, and of a number what it counts: `rate, an integer of at least 0, frames a
    /// second`. Items have no name.
    fileprivate var namedExpectation: String {
        let unit = kind == .integer || kind == .number ? help.map { ", \($0)" } ?? "" : ""
        return (name.isEmpty ? "" : "\(name), ") + expectation + unit
    }
}
