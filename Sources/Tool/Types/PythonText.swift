import JSON
import QuickConnect

/// A module of Python: a class whose methods are what the device has, over a client of the module `quickconnect`.
struct PythonText {
    private let commands: [TypedCommand]

    init(_ commands: [TypedCommand]) { self.commands = commands }

    /// Words that cannot be names.
    private static let words: Set = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
        "elif",
        "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not",
        "or",
        "pass", "raise", "return", "self", "try", "while", "with", "yield",
    ]

    /// The methods would hide what the class is made of.
    private static func isName(_ name: String) -> Bool { name.isIdentifier && !name.hasPrefix("_") }

    private static func method(_ name: String) -> String { words.contains(name) ? "\(name)_" : name }

    var text: String {
        var types = PythonTypes()
        var (members, values) = ("", "")
        for command in commands {
            guard Self.isName(command.name) else {
                members += "\n    # Left out, because it is no name of Python: \(Self.literal(.string(command.name)))\n"
                continue
            }
            guard let type = Self.type(of: command, &types) else {
                members += method(command, &types)
                continue
            }
            let made = "\(type.prefix { $0 != "[" })(client, \(Self.literal(.string(command.name))))"
            values += """
                        # \(command.paragraphs.joined(separator: " "))
                        self.\(Self.method(command.name)): \(type) = \(made)

                """
        }
        return Self.start + types.text + Self.device + values + members.dropLast()
    }

    /// Of what is no command.
    private static func type(of command: TypedCommand, _ types: inout PythonTypes) -> String? {
        let (name, isChangeable) = (command.name.capitalizedName, command.isChangeable)
        switch command.kind {
        case .command: return nil
        case .value(let value):
            let type = types.type(command.result ?? value, name)
            let kind = !isChangeable ? "Readable" : ["int", "float"].contains(type) ? "Number" : ""
            return "\(kind)Value[\(type)]"
        case .event(let data): return "\(isChangeable ? "Device" : "Readable")Event[\(types.type(data, name))]"
        case .schedule: return "\(isChangeable ? "" : "Readable")Schedule"
        }
    }

    private static let start = """
        \"""What the commands, values, events and schedules of this device take and answer.

        «quickconnect types --python» made it from the mappings; make it again when they change.
        \"""

        from __future__ import annotations

        from typing import Any, Callable, Dict, Generic, List, Literal, Optional, Sequence, TypedDict, TypeVar, Union

        import quickconnect

        _T = TypeVar("_T")


        """

    private static let device = """
        class _Named:
            def __init__(self, client: quickconnect.Client, name: str) -> None:
                self._client = client
                self._name = name


        class ReadableValue(_Named, Generic[_T]):
            \"""A value of the device that may only be read.\"""

            def get(self) -> _T:
                \"""The present value.\"""
                present: _T = self._client.call(self._name)
                return present

            def on(self, function: Callable[[_T], object]) -> Callable[[], None]:
                \"""Calls the function now and at each change, until the function that is returned is called.\"""
                end: Callable[[], None] = self._client.value(self._name, function)
                return end


        class Value(ReadableValue[_T]):
            \"""A value of the device.\"""

            def set(self, value: _T) -> _T:
                \"""Sets it, and returns what it became.\"""
                new: _T = self._client.set(self._name, value)
                return new


        class NumberValue(Value[_T]):
            \"""A value of the device that is a number.\"""

            def add(self, number: float = 1) -> _T:
                \"""Adds to it in one step, so that no count is lost, and returns what it became.\"""
                new: _T = self._client.add(self._name, number)
                return new


        class ReadableEvent(_Named, Generic[_T]):
            \"""An event of the device that may only be heard.\"""

            def last(self) -> Optional[_T]:
                \"""The data of the last one; None if there was none, or the device keeps none.\"""
                data: Optional[_T] = self._client.call(self._name)
                return data

            def on(self, function: Callable[[_T], object]) -> Callable[[], None]:
                \"""Calls the function with the data of each, until the function that is returned is called.\"""
                end: Callable[[], None] = self._client.on(self._name, lambda event: function(event.data))
                return end


        class DeviceEvent(ReadableEvent[_T]):
            \"""An event of the device.\"""

            def post(self, data: _T) -> None:
                \"""Sends it to those who listen.\"""
                self._client.post(self._name, data)


        # Times are in ms since 1970; the result is "ok" or the code of an error.
        ScheduleState = TypedDict(
            "ScheduleState", {"next": Optional[int], "last": Optional[int], "result": Optional[str]}
        )

        ScheduledRun = TypedDict("ScheduledRun", {"planned": int, "missed": bool})


        class ReadableSchedule(_Named):
            \"""A schedule of the device that the caller may not run.\"""

            def get(self) -> ScheduleState:
                \"""When it runs next and ran last, and how that ended.\"""
                state: ScheduleState = self._client.call(self._name)
                return state

            def on(self, function: Callable[[ScheduledRun], object]) -> Callable[[], None]:
                \"""Calls the function at each run, until the function that is returned is called.\"""
                end: Callable[[], None] = self._client.on(self._name, lambda event: function(event.data))
                return end


        class Schedule(ReadableSchedule):
            \"""A schedule of the device.\"""

            def run(self) -> ScheduleState:
                \"""Runs it now, and returns how that ended.\"""
                state: ScheduleState = self._client.call(self._name, "run")
                return state


        def _call(client: Any, command: str, required: int, parameters: List[Any], others: Sequence[Any] = ()) -> Any:
            if others:
                parameters += others
            while not others and len(parameters) > required and parameters[-1] is None:
                parameters.pop()
            return client.call(command, *parameters)


        class Device:
            \"""What this device has.\"""

            def __init__(self, client: quickconnect.Client) -> None:
                self._client = client

        """

    static func literal(_ value: JSONValue) -> String {
        switch value {
        case .null: "None"
        case .bool(let isTrue): isTrue ? "True" : "False"
        // JSON's escapes are Python's, and a surrogate pair is no character there.
        default: value.text
        }
    }

    private static func string(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }

    private func method(_ command: TypedCommand, _ types: inout PythonTypes) -> String {
        let start = command.name.capitalizedName
        let parameters = command.parameters ?? [TypedCommand.unchecked]
        let names = parameters.argumentNames(avoiding: Self.words)
        let required = (parameters.lastIndex { !$0.isOptional && !$0.repeats } ?? -1) + 1
        let arguments = zip(parameters, names).enumerated().map { index, declared in
            let (parameter, name) = declared
            var bare = parameter
            bare.isOptional = false
            let type = types.type(bare, start + parameter.name.capitalizedName)
            if parameter.repeats { return ", *\(name): \(type)" }
            guard parameter.isOptional else { return ", \(name): \(type)" }
            return index < required ? ", \(name): Optional[\(type)]" : ", \(name): Optional[\(type)] = None"
        }.joined()
        let result = command.result.map { types.type($0, "\(start)Result") } ?? "Any"
        let others = zip(parameters, names).first { $0.0.repeats }.map { ", \($0.1)" } ?? ""
        let sent = zip(parameters, names).filter { !$0.0.repeats }.map(\.1).joined(separator: ", ")
        let help = command.paragraphs.map { "        \(Self.string($0))" }.joined(separator: "\n\n").dropFirst(8)
        let call = "_call(self._client, \(Self.literal(.string(command.name))), \(required), [\(sent)]\(others))"
        let body = result == "None" ? "        \(call)" : "        answer: \(result) = \(call)\n        return answer"
        return """

                def \(Self.method(command.name))(self\(arguments)) -> \(result):
                    \"""\(help)\"""
            \(body)

            """
    }
}

/// The types of a module of Python. Those of objects have names, and each stands behind those that it names.
struct PythonTypes {
    private(set) var text = ""
    /// Names that are taken.
    private var used: Set = [
        "Any", "Callable", "Dict", "Generic", "List", "Literal", "Optional", "Sequence", "TypedDict", "TypeVar",
        "Union",
        "Value", "NumberValue", "ReadableValue", "ReadableEvent", "DeviceEvent", "ScheduleState", "ScheduledRun",
        "ReadableSchedule",
        "Schedule", "Device",
    ]

    mutating func type(_ declared: Parameter, _ name: String) -> String {
        let type = bareType(declared, name)
        return declared.isOptional && type != "Any" && !declared.isNull ? "Optional[\(type)]" : type
    }

    private mutating func bareType(_ declared: Parameter, _ name: String) -> String {
        if declared.isNull { return "None" }
        if let oneOf = declared.oneOf, oneOf.allSatisfy({ $0.isScalar && ($0.numberValue == nil || $0.isInteger) }) {
            return oneOf.isEmpty ? "None" : "Literal[\(oneOf.map(PythonText.literal).joined(separator: ", "))]"
        }
        switch declared.kind {
        case .string: return "str"
        case .integer: return "int"
        case .number: return "float"
        case .boolean: return "bool"
        case .object: return object(declared, name)
        case .array: return array(declared, name)
        case .any:
            let types =
                (declared.items == nil ? [] : [array(declared, name)])
                + (declared.members.isEmpty ? [] : [object(declared, name)])
            return types.count < 2 ? types.first ?? "Any" : "Union[\(types.joined(separator: ", "))]"
        }
    }

    private mutating func array(_ declared: Parameter, _ name: String) -> String {
        declared.items.map { "List[\(type($0, "\(name)Item"))]" } ?? "List[Any]"
    }

    private mutating func object(_ declared: Parameter, _ name: String) -> String {
        guard declared.isClosed, name.isIdentifier else { return "Dict[str, Any]" }
        let name = used.unique(name)
        var parts: [Bool: String] = [:]
        for member in declared.members.compactMap(\.declared) {
            let type = type(member, name + (member.name.isIdentifier ? member.name.capitalizedName : "Member"))
            let help = member.help.map { "  # \($0.onOneLine)" } ?? ""
            let line = "        \(PythonText.literal(.string(member.name))): \(type),\(help)\n"
            parts[member.isOptional, default: ""] += line
        }
        for (isOptional, end, total) in [(false, "Required", ""), (true, "Optional", "    total=False,\n")] {
            guard let lines = parts[isOptional] else { continue }
            let full = parts.count == 1 ? name : "_\(name)\(end)"
            text += "\(full) = TypedDict(\n    \"\(full)\",\n    {\n\(lines)    },\n\(total))\n\n"
        }
        if parts.count == 2 { text += "\nclass \(name)(_\(name)Required, _\(name)Optional):\n    pass\n\n" }
        text += "\n"
        return name
    }
}

extension JSONValue {
    /// Whether it is written without a fraction.
    var isInteger: Bool { if case .integer = self { true } else { false } }
}
