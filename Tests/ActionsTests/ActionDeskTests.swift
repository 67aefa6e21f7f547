import Foundation
import JSON
import Linux
import QuickConnect
import TestRig
import Testing

@testable import Actions

@Suite("The desk of actions")
struct ActionDeskTests {
    private let folder: TestFolder
    private let desk: ActionLibrary

    init() throws {
        folder = try TestFolder()
        for name in ["own/a", "own/b", "owner/a", "owner/c", "shipped/a", "shipped/d", "shipped/empty"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
            if name != "shipped/empty" { try folder.write(name, to: "\(name)/Action.js") }
        }
        let folders = ActionFolders(user: folder("own"), owner: folder("owner"), shipped: folder("shipped"))
        let state = ActionState(system: folder("system"), own: folder("state/actions"))
        desk = ActionLibrary(folders, state, commands: ["logMessage"])
    }

    private var page: WebOrigin { get throws { try #require(WebOrigin("https://example.org/x")) } }

    private func allow(_ action: String, _ site: String) throws {
        let rule = AllowedActions.Rule(action: action, site: try #require(Site(site)))
        _ = try desk.state.changeRules { $0.add(rule) }
    }

    private func refusal(_ body: () throws -> Void) -> CommandError? {
        do {
            try body()
            return nil
        } catch {
            return error as? CommandError
        }
    }

    @Test func `the user's file counts, then the owner's, then what is shipped`() {
        let (actions, problems) = desk.list()
        #expect(actions.map(\.name) == ["a", "b", "c", "d"] && problems.isEmpty)
        #expect(actions.map(\.file.place) == [.user, .user, .configuration, .shipped])
        #expect(actions[0].file.shadows == [folder("owner/a/Action.js"), folder("shipped/a/Action.js")])
        #expect(actions.allSatisfy { $0.sites.isEmpty && $0.problem == nil })
    }

    @Test func `the name of a folder adds no line to what is told`() throws {
        try FileManager.default.createDirectory(atPath: folder("own/x\ny"), withIntermediateDirectories: true)
        try folder.write("", to: "own/x\ny/Action.js")
        let told = desk.list().problems
        #expect(told.count == 1 && told.first?.contains(#"/x\ny/Action.js: "#) == true, "\(told)")
    }

    @Test(arguments: ["", "../own/a", "a/b", ".", "..", "-x", "ä", "a\u{0}", String(repeating: "x", count: 101)])
    func `a name is never a path`(name: String) { #expect(desk.folders.file(name) == nil) }

    @Test func `new actions and sites are off`() throws {
        #expect(refusal { _ = try desk.text(of: "a", on: page) }?.code == .denied)
        try allow("a", "https://example.org")
        #expect(try desk.text(of: "a", on: page) == "own/a")
        for other in ["http://example.org/", "https://example.net/", "https://example.org:8443/"] {
            #expect(refusal { _ = try desk.text(of: "a", on: WebOrigin(other)) }?.code == .denied, "\(other)")
        }
        #expect(refusal { _ = try desk.text(of: "a", on: nil) }?.code == .denied)
        #expect(
            refusal { _ = try desk.text(of: "b", on: page) }?.message.contains("action enable b https://example.org")
                == true
        )
        #expect(refusal { _ = try desk.text(of: "x", on: page) }?.code == .notFound)
    }

    @Test func `only listed commands may be called, and only where the action is allowed`() throws {
        #expect(refusal { try desk.checkMayCall("logMessage", "a", on: page) }?.code == .denied)
        try allow("a", "*")
        #expect(refusal { try desk.checkMayCall("logMessage", "a", on: page) } == nil)
        #expect(
            refusal { try desk.checkMayCall("rec", "a", on: page) }?.message.contains("'rec' is not listed") == true
        )
    }

    @Test func `what root allows holds for all, and a user takes back only what is the user's`() throws {
        try FileManager.default.createDirectory(atPath: folder("system"), withIntermediateDirectories: true)
        try folder.write(#"{"allowed": [{"action": "c", "site": "https://example.org"}]}"#, to: "system/allowed.json")
        #expect(try desk.text(of: "c", on: page) == "owner/c")
        try allow("a", "https://example.org")
        #expect(try desk.state.changeRules { $0.remove("a", nil) }.count == 1)
        #expect(try desk.state.changeRules { $0.remove("c", nil) }.isEmpty)
        #expect(try desk.text(of: "c", on: page) == "owner/c")
    }

    @Test(arguments: ["\r\n", "\r", "\u{FEFF}"])
    func `rules and actions from an editor of another system count`(mark: String) throws {
        func written(_ text: String) -> String {
            mark == "\u{FEFF}" ? mark + text : text.replacingOccurrences(of: "\n", with: mark)
        }
        try FileManager.default.createDirectory(atPath: folder("system"), withIntermediateDirectories: true)
        try folder.write(written("{\"allowed\":\n[{\"action\": \"c\", \"site\": \"*\"}]}\n"), to: "system/allowed.json")
        try folder.write(written("// Two\nlines\n"), to: "owner/c/Action.js")
        #expect(try desk.text(of: "c", on: page) == "// Two\nlines\n", "\(desk.state.rules().problems)")
    }

    @Test func `rules that others may have written do not count, and say so`() throws {
        try allow("a", "https://example.org")
        chmod(desk.state.ownRules, 0o666)
        #expect(refusal { _ = try desk.text(of: "a", on: page) }?.code == .denied)
        #expect(desk.list().problems.contains { $0.contains("can be changed by others") })
        #expect(refusal { try allow("b", "*") }?.code == .unavailable)
        chmod(desk.state.ownRules, 0o644)
        chmod(folder("state/actions"), 0o777)
        #expect(desk.list().problems.contains { $0.contains("its folder") })
    }

    @Test func `an action that others may have written does not run`() throws {
        try allow("a", "*")
        chmod(folder("own/a/Action.js"), 0o664)
        #expect(refusal { _ = try desk.text(of: "a", on: page) }?.message.contains("chmod go-w") == true)
        chmod(folder("own/a/Action.js"), 0o644)
        chmod(folder("own/a"), 0o777)
        #expect(refusal { _ = try desk.text(of: "a", on: page) }?.code == .denied)
        #expect(desk.list().actions[0].problem?.contains("its folder") == true)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"allowed": {}}"#, #"{"allowed": [{"action": "a"}]}"#,
        #"{"allowed": [{"action": "../a", "site": "*"}]}"#,
        #"{"allowed": [{"action": "a", "site": "https://x/y"}]}"#, #"{"allowed": [1]}"#, "\u{0}",
    ])
    func `rules that cannot be read allow nothing and are not overwritten`(text: String) throws {
        try FileManager.default.createDirectory(atPath: folder("state/actions"), withIntermediateDirectories: true)
        try folder.write(text, to: "state/actions/allowed.json")
        #expect(desk.state.rules().all.rules.isEmpty && desk.state.rules().problems.count == 1)
        #expect(refusal { try allow("a", "*") }?.code == .unavailable)
        #expect(try String(decoding: folder.data("state/actions/allowed.json"), as: UTF8.self) == text)
    }

    @Test func `scripts are kept by action, site and name`() throws {
        let other = try #require(WebOrigin("https://example.net"))
        try desk.state.save("alert(1)", as: "", of: "a", on: page)
        try desk.state.save("alert(2)", as: "two", of: "a", on: page)
        try desk.state.save("alert(3)", as: "", of: "a", on: page)
        try desk.state.save("alert(4)", as: "", of: "a", on: other)
        let scripts = desk.state.scripts()
        #expect(try scripts.scripts(of: "a", on: page).map(\.text) == ["alert(3)", "alert(2)"])
        #expect(scripts.scripts(of: "a", on: other).map(\.text) == ["alert(4)"])
        #expect(try scripts.scripts(of: "b", on: page).isEmpty)
        try desk.state.save("", as: "two", of: "a", on: page)
        #expect(try desk.state.scripts().json(of: "a", on: page).text == #"{"last":"alert(3)","saved":[]}"#)
        var status = stat()
        #expect(stat(folder("state/actions/scripts.json"), &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func `a script is bounded, and what was typed last makes room`() throws {
        var scripts = SavedScripts()
        for number in 0..<SavedScripts.maximumCount {
            #expect(try scripts.save("x", as: number < 2 ? "" : "n\(number)", of: "a\(number)", on: page) == nil)
        }
        #expect(try scripts.save("x", as: "new", of: "b", on: page) == nil)
        #expect(try scripts.scripts(of: "a0", on: page).isEmpty && scripts.scripts(of: "a1", on: page).count == 1)
        #expect(try scripts.save("x", as: "newer", of: "b", on: page) == nil)
        #expect(try scripts.save("x", as: "newest", of: "b", on: page)?.contains("500 scripts") == true)
        let long = String(repeating: "x", count: SavedScripts.maximumBytes + 1)
        #expect(try scripts.save(long, as: "", of: "b", on: page)?.contains("256 KiB") == true)
        #expect(try scripts.save("x", as: "a\nb", of: "b", on: page)?.contains("one line") == true)
        #expect(SavedScripts(scripts.text) == scripts)
    }
}
