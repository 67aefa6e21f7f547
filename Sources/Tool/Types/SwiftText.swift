import QuickConnect

/// A source of Swift: a type whose functions are what the device has, over a `DeviceClient`.
struct SwiftText {
    private let commands: [TypedCommand]

    init(_ commands: [TypedCommand]) { self.commands = commands }

    /// Words that stand in backticks where they are names.
    private static let words: Set = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else",
        "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in",
        "init",
        "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat",
        "rethrows", "return", "self", "Self", "static", "struct", "subscript", "super", "switch", "throw", "throws",
        "true",
        "try", "typealias", "var", "where", "while", "Any", "Protocol", "Type",
    ]

    static func name(_ name: String) -> String { words.contains(name) ? "`\(name)`" : name }

    static func literal(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where String(scalar).onOneLine != String(scalar): "\\u{\(String(scalar.value, radix: 16))}"
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }

    static func comment(_ paragraphs: [String], _ indent: String) -> String {
        paragraphs.map { "\(indent)/// \($0.onOneLine)\n" }.joined(separator: "\(indent)///\n")
    }

    var text: String {
        var types = SwiftTypes()
        var members = ""
        for command in commands {
            // An underscore is a pattern, and «client» is what the type is made of.
            if command.name.isIdentifier, !["_", "client", "call"].contains(command.name) {
                let member = property(command, &types) ?? function(command, &types)
                members += "\n" + Self.comment(command.paragraphs, "    ") + member
            } else {
                members += "\n    // Left out, because it is no name of Swift: \(Self.literal(command.name))\n"
            }
        }
        return Self.start + members + "}\n" + types.text + Self.end
    }

    private static let start = """
        // What the commands, values, events and schedules of this device take and answer. «quickconnect types --swift» made
        // it from the mappings; make it again when they change.

        import JSON
        import QuickConnectClient

        /// What this device has.
        public struct TypedDevice: Sendable {
            /// What makes the calls.
            public let client: DeviceClient

            /// The typed functions over a client.
            public init(_ client: DeviceClient) { self.client = client }

            private func call<Answer>(
                _ command: String,
                _ parameters: [JSONValue?],
                others: [JSONValue] = [],
                timeout: Duration?,
                _ read: (JSONValue) -> Answer?
            ) async throws(CallFailure) -> Answer {
                var sent = parameters
                while others.isEmpty, let last = sent.last, last == nil { sent.removeLast() }
                let message = JSONValue.array(sent.map { $0 ?? .null } + others)
                let value = try await client.call(command, message, timeout: timeout)
                guard let answer = read(value) else {
                    throw .unreadable("\\(command) answered what its mapping does not declare: \\(value.gist)")
                }
                return answer
            }

        """

    private static let end = """

        /// A value of the device that may only be read.
        public struct ReadableValue<Content: Sendable>: Sendable {
            fileprivate let client: DeviceClient
            fileprivate let name: String
            fileprivate let read: @Sendable (JSONValue) -> Content?

            /// The present value.
            public func get() async throws(CallFailure) -> Content { try content(try await client.call(name)) }

            /// Runs the body now and at each change, as long as its task.
            public func on(_ body: @escaping @Sendable (Content) async throws -> Void) async throws {
                try await client.value(name) { value in try await body(try content(value)) }
            }

            fileprivate func content(_ value: JSONValue) throws(CallFailure) -> Content {
                guard let content = read(value) else {
                    throw .unreadable("\\(name) is what its mapping does not declare: \\(value.gist)")
                }
                return content
            }
        }

        /// A value of the device.
        public struct SettableValue<Content: Sendable>: Sendable {
            fileprivate let readable: ReadableValue<Content>
            fileprivate let write: @Sendable (Content) -> JSONValue

            /// The present value.
            public func get() async throws(CallFailure) -> Content { try await readable.get() }

            /// Sets it, and gives what it became.
            @discardableResult
            public func set(_ new: Content) async throws(CallFailure) -> Content {
                try readable.content(try await readable.client.set(readable.name, write(new)))
            }

            /// Runs the body now and at each change, as long as its task.
            public func on(_ body: @escaping @Sendable (Content) async throws -> Void) async throws {
                try await readable.on(body)
            }
        }

        extension SettableValue where Content: Numeric {
            /// Adds to a number in one step, so that no count is lost, and gives what it became.
            @discardableResult
            public func add(_ number: Content = 1) async throws(CallFailure) -> Content {
                try readable.content(try await readable.client.add(readable.name, write(number)))
            }
        }

        /// An event of the device that may only be heard.
        public struct ReadableEvent<Content: Sendable>: Sendable {
            fileprivate let client: DeviceClient
            fileprivate let name: String
            fileprivate let read: @Sendable (JSONValue) -> Content?

            /// The data of the last one; nil if there was none, or the device keeps none.
            public func last() async throws(CallFailure) -> Content? {
                let data = try await client.call(name)
                return data == .null ? nil : try content(data)
            }

            /// Runs the body for each, as long as its task.
            public func on(_ body: @escaping @Sendable (Content) async throws -> Void) async throws {
                try await client.on(name) { data, _ in try await body(try content(data)) }
            }

            private func content(_ data: JSONValue) throws(CallFailure) -> Content {
                guard let content = read(data) else {
                    throw .unreadable("\\(name) tells what its mapping does not declare: \\(data.gist)")
                }
                return content
            }
        }

        /// An event of the device.
        public struct PostableEvent<Content: Sendable>: Sendable {
            fileprivate let readable: ReadableEvent<Content>
            fileprivate let write: @Sendable (Content) -> JSONValue

            /// The data of the last one; nil if there was none, or the device keeps none.
            public func last() async throws(CallFailure) -> Content? { try await readable.last() }

            /// Runs the body for each, as long as its task.
            public func on(_ body: @escaping @Sendable (Content) async throws -> Void) async throws {
                try await readable.on(body)
            }

            /// Sends it to those who listen.
            public func post(_ data: Content) async throws(CallFailure) {
                try await readable.client.post(readable.name, write(data))
            }
        }

        /// When a schedule runs next and ran last, in ms since 1970, and how that ended: `ok` or the code of an error.
        public struct ScheduleState: Sendable {
            public let next: Int64?
            public let last: Int64?
            public let result: String?
        }

        /// A run of a schedule: for when it was planned, in ms since 1970, and whether it is made up for.
        public struct ScheduledRun: Sendable {
            public let planned: Int64
            public let missed: Bool
        }

        /// A schedule of the device that the caller may not run.
        public struct ReadableSchedule: Sendable {
            fileprivate let client: DeviceClient
            fileprivate let name: String

            /// When it runs next and ran last.
            public func get() async throws(CallFailure) -> ScheduleState { try await call([]) }

            /// Runs the body at each run, as long as its task.
            public func on(_ body: @escaping @Sendable (ScheduledRun) async throws -> Void) async throws {
                try await client.on(name) { data, _ in
                    let run = data.objectValue
                    guard let planned = run?["planned"]?.integerValue, let missed = run?["missed"]?.boolValue else {
                        throw CallFailure.unreadable("\\(name) is no schedule: \\(data.gist)")
                    }
                    try await body(ScheduledRun(planned: planned, missed: missed))
                }
            }

            fileprivate func call(_ parameters: [JSONValue]) async throws(CallFailure) -> ScheduleState {
                let answer = try await client.call(name, .array(parameters))
                guard let state = answer.objectValue else {
                    throw .unreadable("\\(name) is no schedule: \\(answer.gist)")
                }
                return ScheduleState(
                    next: state["next"]?.integerValue,
                    last: state["last"]?.integerValue,
                    result: state["result"]?.stringValue
                )
            }
        }

        /// A schedule of the device.
        public struct RunnableSchedule: Sendable {
            fileprivate let readable: ReadableSchedule

            /// When it runs next and ran last.
            public func get() async throws(CallFailure) -> ScheduleState { try await readable.get() }

            /// Runs the body at each run, as long as its task.
            public func on(_ body: @escaping @Sendable (ScheduledRun) async throws -> Void) async throws {
                try await readable.on(body)
            }

            /// Runs it now, and tells how that ended.
            @discardableResult
            public func run() async throws(CallFailure) -> ScheduleState { try await readable.call(["run"]) }
        }

        extension JSONValue {
            /// The items of an array, all of which must be readable.
            fileprivate func items<Item>(_ read: (JSONValue) -> Item?) -> [Item]? {
                guard let items = arrayValue else { return nil }
                let all = items.compactMap(read)
                return all.count == items.count ? all : nil
            }

            /// What may be null: nil if it is not readable, and nil within if it is null.
            fileprivate func optional<Content>(_ read: (JSONValue) -> Content?) -> Content?? {
                if self == .null { return .some(nil) }
                return read(self).map { .some($0) }
            }
        }
        """

    /// What is no command.
    private func property(_ command: TypedCommand, _ types: inout SwiftTypes) -> String? {
        let declared: Parameter?
        let words: (readable: String, changeable: String)
        switch command.kind {
        case .command: return nil
        case .value(let value): (declared, words) = (command.result ?? value, ("ReadableValue", "SettableValue"))
        case .event(let data): (declared, words) = (data, ("ReadableEvent", "PostableEvent"))
        case .schedule: (declared, words) = (nil, ("ReadableSchedule", "RunnableSchedule"))
        }
        let type = declared.map { types.type($0, command.name.capitalizedName) }
        let reading = type.map { ", read: { \($0.read("$0")) }" } ?? ""
        let writing = type.map { ", write: { \($0.write("$0")) }" } ?? ""
        let readable = "\(words.readable)(client: client, name: \(Self.literal(command.name))\(reading))"
        let isChangeable = command.isChangeable
        let content = type.map { "<\($0.name)>" } ?? ""
        return """
                public var \(Self.name(command.name)): \(isChangeable ? words.changeable : words.readable)\(content) {
                    \(isChangeable ? "\(words.changeable)(readable: \(readable)\(writing))" : readable)
                }

            """
    }

    private func function(_ command: TypedCommand, _ types: inout SwiftTypes) -> String {
        let start = command.name.capitalizedName
        let parameters = command.parameters ?? [TypedCommand.unchecked]
        let names = parameters.argumentNames(avoiding: ["timeout"])
        var (arguments, sent, others) = ([String](), [String](), "")
        for (parameter, name) in zip(parameters, names) {
            var bare = parameter
            bare.isOptional = false
            let type = types.type(bare, start + parameter.name.capitalizedName)
            let label = Self.name(name)
            if parameter.repeats {
                arguments.append("_ \(label): \(type.name)...")
                others = ", others: \(label).map { \(type.write("$0")) }"
            } else if parameter.isOptional {
                arguments.append("\(label): \(type.name)? = nil")
                sent.append("\(label).map { \(type.write("$0")) }")
            } else {
                arguments.append((arguments.isEmpty ? "_ " : "") + "\(label): \(type.name)")
                sent.append(type.write(label))
            }
        }
        arguments.append("timeout: Duration? = nil")
        let result = command.result.map { types.type($0, start + "Result") } ?? .json
        let returned = result.name == "Void" ? "" : " -> \(result.name)"
        return """
            \(returned.isEmpty ? "" : "    @discardableResult\n")    public func \(Self.name(command.name))(\(arguments.joined(separator: ", "))) async throws(CallFailure)\(returned) {
                    try await call(\(Self.literal(command.name)), [\(sent.joined(separator: ", "))]\(others), timeout: timeout) { \(result.read("$0")) }
                }

            """
    }
}
