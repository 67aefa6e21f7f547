import QuickConnect

/// A type of Swift, and how it is read from JSON and written as such.
struct SwiftType: Sendable {
    let name: String
    /// An expression of the type, or nil, from one of JSON.
    let read: @Sendable (String) -> String
    /// An expression of JSON from one of the type.
    let write: @Sendable (String) -> String

    static let json = SwiftType(name: "JSONValue", read: { "\($0) as JSONValue?" }, write: { $0 })
    static let object = SwiftType(
        name: "JSONObject",
        read: { "\($0).objectValue" },
        write: { "JSONValue.object(\($0))" }
    )
    static let list = SwiftType(name: "[JSONValue]", read: { "\($0).arrayValue" }, write: { "JSONValue.array(\($0))" })
    static let nothing = SwiftType(
        name: "Void",
        read: { "\($0) == .null ? () : nil" },
        write: { _ in "JSONValue.null" }
    )

    static func scalar(_ name: String, _ property: String, _ kind: String) -> SwiftType {
        SwiftType(name: name, read: { "\($0).\(property)" }, write: { "JSONValue.\(kind)(\($0))" })
    }

    /// The same, or null.
    var optional: SwiftType {
        SwiftType(
            name: "\(name)?",
            read: { "\($0).optional({ \(read("$0")) })" },
            write: { "\($0).map({ \(write("$0")) }) ?? JSONValue.null" }
        )
    }

    /// A list of it.
    var array: SwiftType {
        SwiftType(
            name: "[\(name)]",
            read: { "\($0).items({ \(read("$0")) })" },
            write: { "JSONValue.array(\($0).map({ \(write("$0")) }))" }
        )
    }
}

/// The types of a source of Swift. Those of objects and of lists of names have names of their own.
struct SwiftTypes {
    private(set) var text = ""
    /// Names that are taken.
    private var used: Set = [
        "TypedDevice", "ReadableValue", "SettableValue", "ReadableEvent", "PostableEvent", "ScheduleState",
        "ScheduledRun",
        "ReadableSchedule", "RunnableSchedule", "JSONValue", "JSONObject", "DeviceClient", "CallFailure",
        "Duration", "String", "Int64", "Double", "Bool", "Void", "Sendable", "Any", "Self", "Type", "Protocol",
    ]

    mutating func type(_ declared: Parameter, _ name: String) -> SwiftType {
        let type = bareType(declared, name)
        return declared.isOptional && !["JSONValue", "Void"].contains(type.name) ? type.optional : type
    }

    private mutating func bareType(_ declared: Parameter, _ name: String) -> SwiftType {
        if declared.isNull { return .nothing }
        if let names = declared.names { return choice(names, name) }
        switch declared.kind {
        case .string: return .scalar("String", "stringValue", "string")
        case .integer: return .scalar("Int64", "integerValue", "integer")
        case .number: return .scalar("Double", "numberValue", "number")
        case .boolean: return .scalar("Bool", "boolValue", "bool")
        case .object: return declared.isClosed && name.isIdentifier ? object(declared, name) : .object
        case .array: return declared.items.map { type($0, "\(name)Item").array } ?? .list
        case .any: return .json
        }
    }

    private mutating func choice(_ names: [String], _ name: String) -> SwiftType {
        guard name.isIdentifier else { return .scalar("String", "stringValue", "string") }
        let type = used.unique(name)
        text += "\n/// One of a few words.\npublic enum \(type): String, Sendable {\n"
        for (index, name) in names.enumerated() {
            let isName = name.isIdentifier && name != "_"
            text += "    case \(isName ? SwiftText.name(name) : "choice\(index)") = \(SwiftText.literal(name))\n"
        }
        text += "}\n"
        return SwiftType(
            name: type,
            read: { "\($0).stringValue.flatMap(\(type).init)" },
            write: { "JSONValue.string(\($0).rawValue)" }
        )
    }

    /// A structure with the members that have names of Swift.
    private mutating func object(_ declared: Parameter, _ name: String) -> SwiftType {
        let name = used.unique(name)
        var members: [Member] = []
        var leftOut = ""
        for member in declared.members.compactMap(\.declared) {
            let key = SwiftText.literal(member.name)
            guard member.name.isIdentifier, !["_", "json", "jsonObject"].contains(member.name) else {
                leftOut += "    // Left out, because it is no name of Swift: \(key)\n"
                continue
            }
            let type = type(member, name + member.name.capitalizedName)
            members.append(
                Member(
                    help: SwiftText.comment([member.help ?? "The member \(member.name)."], "    "),
                    property: SwiftText.name(member.name),
                    key: key,
                    type: type,
                    isOptional: member.isOptional
                )
            )
        }
        text += Self.structure(name, members, leftOut)
        return SwiftType(name: name, read: { "\(name)(\($0))" }, write: { "\($0).json" })
    }

    /// A member of a structure.
    private struct Member {
        let help: String
        let property: String
        let key: String
        let type: SwiftType
        let isOptional: Bool

        var argument: String {
            guard isOptional else { return "\(property): \(type.name)" }
            return "\(property): \(type.name) = \(type.name.hasSuffix("?") ? "nil" : ".null")"
        }
        var reading: String {
            let value = type.read("(jsonObject[\(key)] ?? .null)")
            return
                "        guard let \(property) = \(value) else { return nil }\n        self.\(property) = \(property)\n"
        }
        var writing: String {
            let value = type.write("self.\(property)")
            guard isOptional else { return "        object[\(key)] = \(value)\n" }
            return "        if case let new = \(value), new != .null { object[\(key)] = new }\n"
        }
    }

    private static func structure(_ name: String, _ members: [Member], _ leftOut: String) -> String {
        """

        /// An object of the device.
        public struct \(name): Sendable {
        \(members.map { "\($0.help)    public var \($0.property): \($0.type.name)\n" }.joined())\(leftOut)
            /// An object with these members.
            public init(\(members.map(\.argument).joined(separator: ", "))) {
        \(members.map { "        self.\($0.property) = \($0.property)\n" }.joined())    }

            /// Nil if it is not what the mapping declares.
            public init?(_ value: JSONValue) {
                guard let jsonObject = value.objectValue else { return nil }
        \(members.map(\.reading).joined())    }

            /// As it is sent.
            public var json: JSONValue {
                var object: JSONObject = [:]
        \(members.map(\.writing).joined())        return .object(object)
            }
        }

        """
    }
}
