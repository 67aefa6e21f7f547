import Foundation
import JSON
import TestRig
import Testing

@testable import Configuration
@testable import QuickConnect

@Suite("What mappings declare of members, items, results and effects")
struct DeclarationTests {
    private func read(_ text: String) -> (declarations: [MappingDeclaration], mistakes: [String]) {
        var reader = MappingReader(path: "a.yaml", text: text)
        let declarations = reader.read()
        return (
            declarations, reader.mistakes.map(\.description) + declarations.flatMap { $0.mistakes.map(\.description) }
        )
    }

    private static let types = "the types are string, integer, number, boolean, object, array, any"

    @Test(
        "Each mistake is told with its place and what helps",
        arguments: [
            (
                "a: {effect: read}",
                #"13: 'effect' must be one of reads, changes, acts, destroys; got the string "read", did you mean 'reads'?"#
            ),
            ("a: {effect: [reads]}", "13: 'effect' must be text; got a list"),
            ("a: {effects: reads}", "5: unknown key 'effects' in 'a', did you mean 'effect'?"),
            (
                "a: {result: integer}",
                #"13: 'result' must be a mapping, such as {type: integer}; got the string "integer""#
            ),
            ("a: {result: {optional: true}}", "13: 'result' needs a 'type'"),
            ("a: {result: {type: integr}}", "20: unknown type 'integr', did you mean 'integer'?; \(types)"),
            ("a: {result: {name: x, type: any}}", "14: unknown key 'name' in 'result'"),
            ("a: {result: {type: any, default: 1}}", "25: unknown key 'default' in 'result'"),
            ("a: {result: {type: any, repeat: true}}", "25: unknown key 'repeat' in 'result'"),
            ("a: {result: {type: string, minimum: 1}}", "13: 'minimum' and 'maximum' are for numbers"),
            ("a: {result: {type: object, items: {type: any}}}", "13: 'items' is for arrays"),
            (
                "a: {result: {type: array, items: integer}}",
                #"34: 'items' must be a mapping, such as {type: integer}; got the string "integer""#
            ),
            ("a: {result: {type: array, items: {help: x}}}", "34: 'items' needs a 'type'"),
            ("a: {result: {type: array, members: {x: {type: any}}}}", "13: 'members' is for objects"),
            ("a: {result: {type: object, members: {x: {}}}}", "41: the member 'x' needs a 'type'"),
            ("a: {result: {type: object, members: {x: [a]}}}", "41: 'x' must be text; got a list"),
            (
                "a: {result: {type: object, members: {x: {typ: any}}}}",
                "42: unknown key 'typ' in the member 'x', did you mean 'type'?"
            ),
            (
                "a: {result: {type: object, members: {x: {type: string, maxLength: -1}}}}",
                "67: 'maxLength' must be a whole number from 0 to 2147483647; got the number -1"
            ),
            (
                "a: {result: {type: object, members: {x: {type: integer, minimum: 3, maximum: 2}}}}",
                "41: 'minimum' is greater than 'maximum'"
            ),
            (
                "a: {result: {type: object, members: {x: {type: integer, default: 1}}}}",
                "41: 'default' is for the member 'x' with 'optional: true'"
            ),
            (
                "a: {result: {type: object, members: {x: {type: integer, optional: true, default: a}}}}",
                #"41: the default of 'x' must be an integer; got the string "a""#
            ),
            (
                "a: {result: {type: boolean, oneOf: [yes, true]}}",
                #"13: 'oneOf' has the string "yes", which is not true or false"#
            ),
            (
                "a: {result: {type: string, oneOf: []}}",
                "35: 'oneOf' must be a list of at least one value; got an empty list"
            ),
            ("a: {result: {type: number, minimum: .inf}}", "37: 'minimum' must be a number; got .inf"),
            ("a: {result: {type: number, minimum: 0x1g}}", #"37: 'minimum' must be a number; got the string "0x1g""#),
            ("a: {value: {type: number}, result: {type: number}}", "1: 'a' is a value: its type is its result"),
            (
                "a: {value: {type: object, members: {x: {type: integer}}, default: {x: a}}}",
                #"12: the default of a value must be an object; got the object {"x":"a"}"#
            ),
            (
                "a: {parameters: [{name: x, type: array, items: {type: strin}}]}",
                "55: unknown type 'strin', did you mean 'string'?; \(types)"
            ),
            (
                "default: {effect: reads}",
                "11: unknown key 'effect' in 'default'"
            ),
        ]
    )
    func place(text: String, mistake: String) { #expect(read(text).mistakes.first == "a.yaml:1:\(mistake)") }

    @Test func `everything that is declared is there, and what a later file says of it replaces it`() throws {
        let text = """
            lamp:
              effect: acts
              result: {type: object, optional: true, help: how it burns, members: {level: {type: number, minimum: 0}}}
              parameters:
                - name: options
                  type: object
                  members:
                    color: "as #rrggbb"
                    fade: {type: integer, minimum: 0, optional: true, default: 5, help: ms}
                    zones: {type: array, items: {type: string, maxLength: 8}}
            sign: {value: {type: array, items: {type: string}, default: [a]}}
            """
        let (declarations, mistakes) = read(text)
        #expect(mistakes == [])
        let lamp = try #require(declarations.first)
        #expect(lamp.effect == .acts)
        #expect(lamp.result?.isOptional == true && lamp.result?.isClosed == true && lamp.result?.help == "how it burns")
        let members = lamp.parameters?.parameters.first?.members ?? []
        #expect(members.map(\.name) == ["color", "fade", "zones"])
        #expect(members.map(\.help) == ["as #rrggbb", "ms", ""])
        #expect(members.map { $0.declared?.kind } == [nil, .integer, .array])
        #expect(members.last?.declared?.items?.maxLength == 8 && members[1].declared?.defaultValue == 5)
        #expect(lamp.parameters?.parameters.first?.isClosed == false)
        #expect(declarations.last?.value?.fitting(["a", 1]) == nil)
        #expect(declarations.last?.value?.fitting(["a", "b"]) == ["a", "b"])
    }

    @Test func `an absent effect counts as the worst, and that of a value as a change`() throws {
        let folder = try TestFolder()
        try folder.write("a: {view: []}\nb: {value: {type: number}}\nc: {view: [], effect: acts}", to: "1.yaml")
        try folder.write("c: {effect: reads, result: {type: number}}", to: "2.yaml")
        let table = try MappingFiles.load([MappingFiles.Folder(folder.path, isRequired: true)]).build(
            catalog: [:],
            scripts: { HandlerCommandObject($0, handlers: .none) },
            declared: { name, _ in ValueCommandObject(name, ValueStore(EventHub(limits: Limits()))) },
            accounts: SystemAccounts()
        ).table
        #expect(["a", "b", "c"].map { table[$0]?.effect } == [.destroys, .changes, .reads])
        #expect(table["b"]?.result?.kind == .number && table["b"]?.result?.isOptional == true)
        #expect(table["c"]?.result?.kind == .number && table["a"]?.result == nil)
    }

    @Test func `a file that adds command objects to a command says its effect anew, or it counts as the worst`() throws
    {
        let folder = try TestFolder()
        let names = ["allow", "empty", "more", "said", "again"]
        try folder.write(names.map { "\($0): {view: [], effect: reads}\n" }.joined(), to: "1.yaml")
        let later = """
            allow: {allow: {users: []}, help: Still the same., timeout: 2s}
            empty: {view: []}
            more: {business: ["script:more"]}
            said: {business: ["script:more"], effect: changes}
            again: {error: ["script:more"]}
            """
        try folder.write(later, to: "2.yaml")
        try folder.write("again: {effect: acts}", to: "3.yaml")
        let table = try MappingFiles.load([MappingFiles.Folder(folder.path, isRequired: true)]).build(
            catalog: [:],
            scripts: { HandlerCommandObject($0, handlers: .none) },
            declared: { name, _ in ValueCommandObject(name, ValueStore(EventHub(limits: Limits()))) },
            accounts: SystemAccounts()
        ).table
        #expect(names.map { table[$0]?.effect } == [.reads, .reads, .destroys, .changes, .acts])
    }

    @Test func `each shipped command has a result and an effect`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        var count = 0
        for file in try FileManager.default.contentsOfDirectory(atPath: root + "/mappings")
        where file.hasSuffix(".yaml") {
            var reader = MappingReader(path: "\(root)/mappings/\(file)")
            for declaration in reader.read() where declaration.command.value != MappingDeclaration.defaultName {
                count += 1
                guard declaration.value == nil, declaration.event == nil else { continue }
                #expect(declaration.result != nil && declaration.effect != nil, "\(declaration.command.value)")
            }
            #expect(reader.mistakes.isEmpty, "\(reader.mistakes)")
        }
        #expect(count > 30)
    }
}
