import JSON
import QuickConnect

/// Functions of TypeScript: an interface with what the device has, and one function that makes it of the words `call`,
/// `on`, `post`, `value`, `set` and `add`, which pages, scripts and the client for Node have.
struct TypeScriptText {
    private let commands: [TypedCommand]

    init(_ commands: [TypedCommand]) { self.commands = commands }

    /// Words that cannot be a parameter's name.
    private static let words: Set = [
        "arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete",
        "do",
        "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function", "if", "implements",
        "import", "in",
        "instanceof", "interface", "let", "new", "null", "package", "private", "protected", "public", "return",
        "static",
        "super", "switch", "this", "throw", "true", "try", "typeof", "undefined", "var", "void", "while", "with",
        "yield",
        // That of the function around them.
        "call",
    ]

    var text: String {
        let members = commands.map { "\(Self.comment($0.paragraphs, "  "))  \(declaration(of: $0));\n" }
        let functions = commands.map { "    \(Self.key($0.name)): \(body(of: $0)),\n" }
        return Self.start + members.joined(separator: "\n") + "}\n" + Self.middle + functions.joined() + "  };\n}"
    }

    private static let start = """
        // What the commands, values, events and schedules of this device take and answer. «quickconnect types --typescript»
        // made it from the mappings; make it again when they change.

        /** What makes the calls: `quickconnect` in a page or a script, a connected client in Node. */
        export interface Words {
          call(command: string, ...parameters: any[]): Promise<any>;
          value(name: string, listener?: (value: any) => void): Promise<any>;
          set(name: string, value: any): Promise<any>;
          add(name: string, number?: number): Promise<number>;
          on(event: string, listener: (data: any) => void): Promise<() => Promise<void>>;
          post(event: string, data?: any): Promise<any>;
        }

        /** A value of the device that may only be read. */
        export interface ReadableValue<T> {
          get(): Promise<T>;
          /** Calls the listener now and at each change, until the function that it gives is called. */
          on(listener: (value: T) => void): Promise<() => Promise<void>>;
        }

        /** A value of the device. */
        export interface Value<T> extends ReadableValue<T> {
          /** Sets it, and gives what it became. */
          set(value: T): Promise<T>;
        }

        /** A value of the device that is a number. */
        export interface NumberValue<T = number> extends Value<T> {
          /** Adds to it in one step, so that no count is lost, and gives what it became. Without a number it adds 1. */
          add(number?: number): Promise<T>;
        }

        /** An event of the device that may only be heard. */
        export interface ReadableEvent<T> {
          /** The data of the last one; null if there was none, or the device keeps none. */
          last(): Promise<T | null>;
          /** Calls the listener for each, until the function that it gives is called. */
          on(listener: (data: T) => void): Promise<() => Promise<void>>;
        }

        /** An event of the device. */
        export interface DeviceEvent<T> extends ReadableEvent<T> {
          /** Sends it to those who listen. */
          post(data: T): Promise<null>;
        }

        /** When a schedule runs next and ran last, in ms since 1970, and how that ended: 'ok' or the code of an error. */
        export interface ScheduleState {
          next: number | null;
          last: number | null;
          result: string | null;
        }

        /** A schedule of the device that the caller may not run. */
        export interface ReadableSchedule {
          get(): Promise<ScheduleState>;
          /** Calls the listener at each run, until the function that it gives is called. */
          on(listener: (run: { planned: number; missed: boolean }) => void): Promise<() => Promise<void>>;
        }

        /** A schedule of the device. */
        export interface Schedule extends ReadableSchedule {
          /** Runs it now, and tells how that ended. */
          run(): Promise<ScheduleState>;
        }

        /** What this device has. */
        export interface Device {

        """

    private static let middle = """

        /** The typed functions over the words of a client. */
        export function device(words: Words): Device {
          const call = (command: string, parameters: unknown[]): Promise<any> => {
            let count = parameters.length;
            while (count > 0 && parameters[count - 1] === undefined) count -= 1;
            return words.call(command, ...parameters.slice(0, count));
          };
          const value = (name: string): NumberValue<any> => ({
            get: () => words.value(name),
            set: (value) => words.set(name, value),
            add: (number) => words.add(name, number),
            on: (listener) => words.value(name, listener),
          });
          const event = (name: string): DeviceEvent<any> => ({
            last: () => words.call(name),
            on: (listener) => words.on(name, listener),
            post: (data) => words.post(name, data),
          });
          const schedule = (name: string): Schedule => ({
            get: () => words.call(name),
            on: (listener) => words.on(name, listener),
            run: () => words.call(name, 'run'),
          });
          return {

        """

    private static func comment(_ paragraphs: [String], _ indent: String) -> String {
        let lines = paragraphs.map { "\(indent) * \($0.replacing("*/", with: "*\\/"))\n" }
        return "\(indent)/**\n\(lines.joined(separator: "\(indent) *\n"))\(indent) */\n"
    }

    private static func key(_ name: String) -> String { name.isIdentifier ? name : literal(.string(name)) }

    private static func literal(_ value: JSONValue) -> String {
        // Line ends to JavaScript, and not to JSON.
        value.text.replacing("\u{2028}", with: "\\u2028").replacing("\u{2029}", with: "\\u2029")
    }

    // MARK: Functions

    private func declaration(of command: TypedCommand) -> String {
        let key = Self.key(command.name)
        let isChangeable = command.isChangeable
        switch command.kind {
        case .command: break
        case .value(let value):
            let type = Self.type(command.result ?? value, "  ")
            if isChangeable, type == "number" { return "readonly \(key): NumberValue" }
            return "readonly \(key): \(isChangeable ? "Value" : "ReadableValue")<\(type)>"
        case .event(let data):
            return "readonly \(key): \(isChangeable ? "DeviceEvent" : "ReadableEvent")<\(Self.type(data, "  "))>"
        case .schedule: return "readonly \(key): \(isChangeable ? "Schedule" : "ReadableSchedule")"
        }
        let result = command.result.map { Self.type($0, "  ") } ?? "unknown"
        return "\(key)(\(arguments(of: command))): Promise<\(result)>"
    }

    private func arguments(of command: TypedCommand) -> String {
        guard let parameters = command.parameters else { return "...parameters: unknown[]" }
        let names = parameters.argumentNames(avoiding: Self.words)
        let lastRequired = parameters.lastIndex { !$0.isOptional } ?? -1
        return zip(parameters, names).enumerated().map { index, declared in
            let (parameter, name) = declared
            var bare = parameter
            bare.isOptional = false
            let type = Self.type(bare, "  ")
            if parameter.repeats { return "...\(name): \(Self.list(type, isEmpty: parameter.isOptional))" }
            guard parameter.isOptional else { return "\(name): \(type)" }
            return index < lastRequired ? "\(name): \(type) | undefined" : "\(name)?: \(type)"
        }.joined(separator: ", ")
    }

    private static func list(_ type: String, isEmpty: Bool) -> String {
        isEmpty ? "Array<\(type)>" : "[\(type), ...Array<\(type)>]"
    }

    private func body(of command: TypedCommand) -> String {
        let name = Self.literal(.string(command.name))
        switch command.kind {
        case .command: break
        case .value: return "value(\(name))"
        case .event: return "event(\(name))"
        case .schedule: return "schedule(\(name))"
        }
        guard let parameters = command.parameters else { return "(...parameters) => call(\(name), parameters)" }
        let names = zip(parameters, parameters.argumentNames(avoiding: Self.words)).map { parameter, name in
            parameter.repeats ? "...\(name)" : name
        }.joined(separator: ", ")
        return "(\(names)) => call(\(name), [\(names)])"
    }

    // MARK: Types

    private static func type(_ declared: Parameter, _ indent: String) -> String {
        let type = bareType(declared, indent)
        return declared.isOptional && type != "unknown" && !declared.isNull ? "\(type) | null" : type
    }

    private static func bareType(_ declared: Parameter, _ indent: String) -> String {
        if let oneOf = declared.oneOf, oneOf.allSatisfy(\.isScalar) {
            return oneOf.isEmpty ? "never" : oneOf.map(literal).joined(separator: " | ")
        }
        switch declared.kind {
        case .string: return "string"
        case .integer, .number: return "number"
        case .boolean: return "boolean"
        case .object: return object(declared, indent)
        case .array: return array(declared, indent)
        case .any:
            let types =
                (declared.items == nil ? [] : [array(declared, indent)])
                + (declared.members.isEmpty ? [] : [object(declared, indent)])
            return types.isEmpty ? "unknown" : types.joined(separator: " | ")
        }
    }

    private static func array(_ declared: Parameter, _ indent: String) -> String {
        declared.items.map { "Array<\(type($0, indent))>" } ?? "unknown[]"
    }

    private static func object(_ declared: Parameter, _ indent: String) -> String {
        let inner = indent + "  "
        var lines = declared.members.map { member in
            let help =
                member.help.isEmpty ? "" : "\(inner)/** \(member.help.onOneLine.replacing("*/", with: "*\\/")) */\n"
            let mark = member.declared.map(\.isOptional) ?? true ? "?" : ""
            return
                "\(help)\(inner)\(key(member.name))\(mark): \(member.declared.map { type($0, inner) } ?? "unknown");\n"
        }
        if !declared.isClosed { lines.append("\(inner)[name: string]: unknown;\n") }
        return "{\n\(lines.joined())\(indent)}"
    }
}
